/** How processes of the fleet talk: fan-out, queues, subjects, and the errors that every seam shares. Nothing here names a transport. */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.seams;
