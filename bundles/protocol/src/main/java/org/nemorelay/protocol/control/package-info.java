/** The control protocol between the daemon and its MCP processes and workers: frames, signed bytes, limits (relay-daemon 3). */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.protocol.control;
