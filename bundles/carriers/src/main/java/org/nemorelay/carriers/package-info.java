/** Which carriers there are, which one is in use, and how to change it. */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.carriers;
