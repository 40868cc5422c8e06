/**
 * Traffic to ATOF 0.1 events (plugins.md 1.6, 1.7), off the request path. {@link
 * org.nemorelay.worker.internal.observe.TrafficEvents} is the door: I/O threads hand it hooks and model calls, its one
 * dispatcher thread does the rest.
 */
package org.nemorelay.worker.internal.observe;
