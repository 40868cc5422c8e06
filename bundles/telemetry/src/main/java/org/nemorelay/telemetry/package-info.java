/** Structured log events and the control of the process that hosts a role. */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.telemetry;
