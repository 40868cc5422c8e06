/** The deterministic backend, and a gRPC server for backends. */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.backend.echo;
