package org.nemorelay.carrier.local.internal;

import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;

/** {@code [distributed.carriers.<name>] type = "local"}. */
@ObjectClassDefinition(name = "Carrier within one process")
public @interface LocalCarrierConfig {
    @AttributeDefinition(description = "The name of this instance.")
    String carrier() default "local";

    @AttributeDefinition(description = "The most bytes of a message, headers included.")
    int max_payload() default 1024 * 1024;

    @AttributeDefinition(description = "Subject of agent runs for this consumer; empty keeps agent.execute.")
    String agent_subject() default "";

    @AttributeDefinition(description = "Queue group of agent runs; empty lets every agent worker run every job.")
    String agent_queue() default "agent-workers";
}
