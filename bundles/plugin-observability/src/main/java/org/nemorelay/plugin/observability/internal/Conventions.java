package org.nemorelay.plugin.observability.internal;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.nemorelay.json.JsonObject;
import org.nemorelay.plugin.api.Event;

/** Scopes in the words of OpenTelemetry's semantic conventions for generative AI. Stateless. */
final class Conventions {
    private static final Map<String, String> USAGE = Map.of(
            "completion_tokens", "gen_ai.usage.output_tokens",
            "cache_read_tokens", "gen_ai.usage.cache_read.input_tokens",
            "cache_write_tokens", "gen_ai.usage.cache_write.input_tokens");

    /** Words of the annotation that the conventions have others for. */
    private static final Map<String, String> FINISH = Map.of("complete", "stop", "tool_use", "tool_call");

    private Conventions() {}

    static String spanName(Event event) {
        return switch (event.category().orElse("")) {
            case "llm" ->
                model(event).map(model -> operation(event) + " " + model).orElse(operation(event));
            case "tool" -> "execute_tool " + event.name();
            case "agent" -> "invoke_agent " + event.name();
            default -> turn(event) ? "invoke_agent " + agent(event).orElse(event.name()) : event.name();
        };
    }

    /** One question to an agent and all that it does to answer it. */
    private static boolean turn(Event event) {
        return event.metadata()
                .optionalString("nemo_relay_scope_role")
                .filter("turn"::equals)
                .isPresent();
    }

    private static Optional<String> agent(Event event) {
        return event.metadata().optionalString("agent_kind");
    }

    static Map<String, Object> ofStart(Event event) {
        Map<String, Object> attributes = new LinkedHashMap<>();
        JsonObject metadata = event.metadata();
        metadata.optionalString("session_id").ifPresent(id -> attributes.put("gen_ai.conversation.id", id));
        agent(event).ifPresent(agent -> attributes.put("gen_ai.agent.name", agent));
        switch (event.category().orElse("")) {
            case "llm" -> {
                attributes.put("gen_ai.operation.name", operation(event));
                attributes.put("gen_ai.provider.name", event.name().startsWith("anthropic") ? "anthropic" : "openai");
                model(event).ifPresent(model -> attributes.put("gen_ai.request.model", model));
            }
            case "tool" -> {
                attributes.put("gen_ai.operation.name", "execute_tool");
                attributes.put("gen_ai.tool.name", event.name());
                attributes.put("gen_ai.tool.type", "function");
                event.categoryProfile()
                        .optionalString("tool_call_id")
                        .ifPresent(id -> attributes.put("gen_ai.tool.call.id", id));
            }
            case "agent" -> {
                attributes.put("gen_ai.operation.name", "invoke_agent");
                attributes.put("gen_ai.agent.name", event.name());
            }
            default -> {
                if (turn(event)) {
                    attributes.put("gen_ai.operation.name", "invoke_agent");
                }
            }
        }
        return attributes;
    }

    static Map<String, Object> ofEnd(Event event) {
        Map<String, Object> attributes = new LinkedHashMap<>();
        JsonObject metadata = event.metadata();
        metadata.optionalString("error.type").ifPresent(type -> attributes.put("error.type", type));
        metadata.values().forEach((key, value) -> {
            if (key.startsWith("nemo_relay.cost.")) {
                attributes.put(key, value);
            }
        });
        Optional<JsonObject> answer = event.categoryProfile().optionalObject("annotated_response");
        if (answer.isPresent()) {
            answer.get().optionalString("id").ifPresent(id -> attributes.put("gen_ai.response.id", id));
            answer.get().optionalString("model").ifPresent(model -> attributes.put("gen_ai.response.model", model));
            // A word of the provider's own stands under "unknown".
            Object reason = answer.get().values().get("finish_reason");
            if ((reason instanceof Map<?, ?> other ? other.get("unknown") : reason) instanceof String word) {
                attributes.put("gen_ai.response.finish_reasons", List.of(FINISH.getOrDefault(word, word)));
            }
            answer.get().optionalObject("usage").ifPresent(usage -> usage(usage, attributes));
            answer.get()
                    .optionalObject("api_specific")
                    .flatMap(specific -> specific.optionalObject("output_tokens_details"))
                    .map(details -> details.values().get("reasoning_tokens"))
                    .filter(Long.class::isInstance)
                    .ifPresent(count -> attributes.put("gen_ai.usage.reasoning.output_tokens", count));
        }
        return attributes;
    }

    /** The conventions count as input what came from a cache or went to one too. */
    private static void usage(JsonObject usage, Map<String, Object> attributes) {
        USAGE.forEach((from, to) -> count(usage, from).ifPresent(count -> attributes.put(to, count)));
        OptionalLong beside = count(usage, "uncached_input_tokens");
        if (beside.isPresent()) {
            attributes.put(
                    "gen_ai.usage.input_tokens",
                    beside.getAsLong()
                            + count(usage, "cache_read_tokens").orElse(0)
                            + count(usage, "cache_write_tokens").orElse(0));
        } else {
            count(usage, "prompt_tokens").ifPresent(count -> attributes.put("gen_ai.usage.input_tokens", count));
        }
    }

    private static OptionalLong count(JsonObject usage, String key) {
        return usage.values().get(key) instanceof Long count ? OptionalLong.of(count) : OptionalLong.empty();
    }

    private static String operation(Event event) {
        return event.name().startsWith("openai.") || event.name().startsWith("anthropic.") ? "chat" : event.name();
    }

    private static Optional<String> model(Event event) {
        return event.categoryProfile()
                .optionalString("model_name")
                .or(() -> event.categoryProfile()
                        .optionalObject("annotated_response")
                        .flatMap(answer -> answer.optionalString("model")));
    }
}
