package org.nemorelay.frontend.internal;

import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;

/** {@code [frontend]}. */
@ObjectClassDefinition(name = "Frontend of a fleet")
public @interface FrontendConfig {
    String PID = "org.nemorelay.frontend";

    @AttributeDefinition(description = "Address to listen on.")
    String bind();

    @AttributeDefinition(description = "Port to listen on; 0 for any.")
    int port();

    @AttributeDefinition(description = "File with the token that nodes register with; empty for none.")
    String registration__token__file();

    @AttributeDefinition(description = "File with the key that callers of the model endpoints show; empty for none.")
    String api__key__file();

    @AttributeDefinition(description = "One JSON object for each model: name, backend, file, context_size.")
    String[] models();
}
