/** Control verbs and agent calls, both halves (distributed-seams 4, 6). */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.seams.control;
