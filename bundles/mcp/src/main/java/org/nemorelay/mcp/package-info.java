/** The entry point of {@code nemo-relay daemon mcp}, one process per harness session (relay-daemon 5.9). */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.mcp;
