/** Files over HTTP between a frontend and a worker (distributed-seams 5): both halves of one protocol. */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.files;
