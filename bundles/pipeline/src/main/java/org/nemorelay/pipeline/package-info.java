/**
 * Runs plugins' services around model requests and records (plugins.md 4). Knows no transport and no framework: the worker
 * and the test kit bring theirs.
 */
@org.osgi.annotation.bundle.Export
@org.osgi.annotation.versioning.Version("1.0.0")
package org.nemorelay.pipeline;
