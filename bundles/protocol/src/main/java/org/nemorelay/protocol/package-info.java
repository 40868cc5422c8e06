/** What every process of the relay agrees on: failure kinds, identities, routes, and the control protocol's values. */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.protocol;
