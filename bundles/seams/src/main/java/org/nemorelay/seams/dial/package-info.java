/** Connections to a worker's backends and to its own server (distributed-seams 7). */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.seams.dial;
