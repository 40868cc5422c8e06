package org.nemorelay.worker.internal;

import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.AttributeType;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;

/** PID {@code org.nemorelay.upstream}: the providers (relay-daemon 1.1, 6.2). */
@ObjectClassDefinition(name = "Relay providers", pid = UpstreamConfiguration.PID)
@interface UpstreamConfiguration {
    String PID = "org.nemorelay.upstream";

    @AttributeDefinition
    String openai__base__url() default "";

    @AttributeDefinition(type = AttributeType.PASSWORD, description = "Value of Authorization; empty for none")
    String openai__auth__header() default "";

    @AttributeDefinition
    String anthropic__base__url() default "";

    @AttributeDefinition(type = AttributeType.PASSWORD, description = "Value of Authorization; empty for none")
    String anthropic__auth__header() default "";

    @AttributeDefinition
    String chatgpt__codex__base__url() default "";

    @AttributeDefinition(description = "Seconds until the response's head must be there; 0 for no limit")
    long response__timeout__secs() default 0;
}
