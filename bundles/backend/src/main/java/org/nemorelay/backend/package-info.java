/** Messages of {@code backend.Backend} (backend-grpc), the fields that the fleet uses. */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.backend;
