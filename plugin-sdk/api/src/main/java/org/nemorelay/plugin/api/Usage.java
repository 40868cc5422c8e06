package org.nemorelay.plugin.api;

import java.util.OptionalLong;

/**
 * Tokens of one call as the provider counted them, brought to one meaning: OpenAI counts what came from a cache within the
 * input, Anthropic beside it.
 *
 * @param input tokens that were read at the full price
 * @param cacheRead tokens that came from a cache
 * @param cacheWrite tokens that were written to a cache
 */
public record Usage(OptionalLong input, OptionalLong output, OptionalLong cacheRead, OptionalLong cacheWrite) {}
