package org.nemorelay.carrier.direct.internal;

import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.AttributeType;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;

/** {@code [distributed.carriers.<name>] type = "direct"}. */
@ObjectClassDefinition(name = "Carrier that dials workers")
public @interface DirectCarrierConfig {
    @AttributeDefinition(description = "The name of this instance.")
    String carrier() default "direct";

    @AttributeDefinition(
            type = AttributeType.PASSWORD,
            description = "The registration token, shown to backends and file servers; empty for none.")
    String token() default "";
}
