/**
 * The streaming forwarder that daemon and worker share, with its listener, header rules, routes and provider rules
 * (relay-daemon 2, 6). Jetty's server types appear in the API: a handler forwards the request it was given.
 */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.http;
