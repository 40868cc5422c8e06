/** What control verbs and agent calls carry: one record per request and reply, its JSON fixed for peers of other versions (distributed-seams 4.2). */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.workerctl;
