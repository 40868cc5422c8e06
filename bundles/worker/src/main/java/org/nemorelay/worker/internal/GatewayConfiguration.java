package org.nemorelay.worker.internal;

import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;

/** PID {@code org.nemorelay.gateway}: limits on bodies (relay-daemon 1.1). */
@ObjectClassDefinition(name = "Relay body limits", pid = GatewayConfiguration.PID)
@interface GatewayConfiguration {
    String PID = "org.nemorelay.gateway";

    @AttributeDefinition(description = "Bytes of a hook's body")
    long max__hook__payload__bytes() default 20 * 1024 * 1024;

    @AttributeDefinition(description = "Bytes of a model request or answer that a plugin may hold")
    long max__passthrough__body__bytes() default 100 * 1024 * 1024;
}
