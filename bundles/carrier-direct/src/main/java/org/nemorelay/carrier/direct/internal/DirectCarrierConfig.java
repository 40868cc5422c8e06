package org.nemorelay.carrier.direct.internal;

import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;

/** {@code [distributed.carriers.<name>] type = "direct"}. */
@ObjectClassDefinition(name = "Carrier that dials workers")
public @interface DirectCarrierConfig {
    @AttributeDefinition(description = "The name of this instance.")
    String carrier() default "direct";

    @AttributeDefinition(
            description =
                    "File with the registration token, which backends and file servers are shown; empty for none.")
    String token_file() default "";
}
