package org.nemorelay.carriers.internal;

import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;

/** {@code [distributed]}. */
@ObjectClassDefinition(name = "Carriers of the fleet")
public @interface DistributedConfig {
    @AttributeDefinition(
            description = "The carrier of fan-out, queues, control and agent calls, by its instance's name.")
    String carrier() default "local";

    @AttributeDefinition(description = "The carrier of connections and files where the first one serves neither.")
    String dial() default "direct";
}
