/** Files on their way to and from a worker (distributed-seams 5). */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.seams.staging;
