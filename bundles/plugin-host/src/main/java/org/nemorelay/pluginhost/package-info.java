/** The plugins of a worker: what runs, what does not and why, and a snapshot of their services. */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.pluginhost;
