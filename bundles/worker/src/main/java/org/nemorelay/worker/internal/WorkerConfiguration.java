package org.nemorelay.worker.internal;

import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;

/** PID {@code org.nemorelay.worker} (relay-daemon 1.4, 7). */
@ObjectClassDefinition(name = "Relay worker", pid = WorkerConfiguration.PID)
@interface WorkerConfiguration {
    String PID = "org.nemorelay.worker";

    @AttributeDefinition(description = "URL of the daemon, port included")
    String daemon__address();

    @AttributeDefinition(description = "127.0.0.1 or 0.0.0.0")
    String bind() default "127.0.0.1";

    @AttributeDefinition(description = "0 for any free port")
    int port() default 0;

    @AttributeDefinition(description = "Host under which the daemon reaches a worker bound to 0.0.0.0")
    String advertise__address() default "";

    @AttributeDefinition(description = "Bytes of one answer that observers get at most")
    int observation__capture__bytes() default 4 * 1024 * 1024;
}
