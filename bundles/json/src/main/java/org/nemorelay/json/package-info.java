/** JSON text to plain Java values and back: strict on input, compact and in insertion order on output. */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.json;
