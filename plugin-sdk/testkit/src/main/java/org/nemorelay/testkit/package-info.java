/** Conformance suites, one per seam, that every carrier passes, and fakes for the tests of those who use the seams. */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.testkit;
