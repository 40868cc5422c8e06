package org.nemorelay.seams.control;

import org.nemorelay.workerctl.BackendInstallProgressEvent;
import org.osgi.annotation.versioning.ProviderType;

/** Where a handler reports how far it has come. Losing reports is fine, so this never throws; without an operation id nothing is sent. */
@ProviderType
@FunctionalInterface
public interface ProgressSink {
    void report(BackendInstallProgressEvent event);
}
