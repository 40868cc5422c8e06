/** The client side of the daemon's control sockets, for MCP processes and workers (relay-daemon 3). */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.control;
