/** The owner's local control socket of a running daemon: verbs on one side, a client on the other. */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.admin;
