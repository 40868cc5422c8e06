/** What a plugin bundle registers with the relay, and what it is given (plugins.md 1, 2 and 4). */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.plugin.api;
