/** For the tests of plugins: the real pipeline without a framework, recorded streams, a clock to move. */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.plugin.testkit;
