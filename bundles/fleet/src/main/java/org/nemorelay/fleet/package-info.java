/** What the roles of the fleet share: membership of a frontend, and the events of jobs and agents (distributed-seams 1.6, 3.3, 3.4). */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.fleet;
