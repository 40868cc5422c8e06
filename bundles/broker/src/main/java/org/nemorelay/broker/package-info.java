/** The route state machine: no I/O, no threads, clock passed in, transitions as values (relay-daemon 5). */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.broker;
