/** Starts a role: its feature file decides the bundles, OSGi Connect runs them from the class path. */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.launcher;
