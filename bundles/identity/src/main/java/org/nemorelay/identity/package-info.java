/** Who this user, machine and daemon are: keys, pins, client token, generations, in owner-private files (relay-daemon 4). */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.identity;
