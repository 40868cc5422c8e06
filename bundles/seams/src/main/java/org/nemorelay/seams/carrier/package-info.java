/** What a transport implements, and the parts that all of them share so that they behave alike. */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.seams.carrier;
