package org.nemorelay.plugin.api;

import java.util.Optional;

/**
 * A tool that a request offers to the model.
 *
 * @param name the API's type of the tool where it is the provider's own and has no name
 * @param schema of its input, JSON Schema
 * @param pointer where it stands in the body that it was read from
 */
public record Tool(String name, Optional<String> description, Optional<Object> schema, String pointer) {}
