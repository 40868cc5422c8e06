package org.nemorelay.plugin.toolpolicy.internal;

import static org.nemorelay.json.JsonText.pointer;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.nemorelay.json.JsonText;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.ModelRequest;

/**
 * Takes denied calls out of a list of blocks or items that is there as a whole.
 *
 * @param changed the text, the same where nothing was taken
 * @param taken whether there was anything to take
 * @param called whether a call is left
 */
record Lists(JsonText changed, boolean taken, boolean called) {
    /** Blocks of Anthropic Messages; with a call goes its result. */
    static Lists blocks(Rules rules, ModelRequest request, JsonText json, String at) {
        JsonText changed = json;
        Set<Object> gone = new HashSet<>();
        boolean called = false;
        List<?> list = ModelCalls.list(json.at(at).orElse(""));
        for (int i = 0; i < list.size(); i++) {
            Map<String, Object> block = ModelCalls.object(list.get(i));
            Optional<Call> call = ModelCalls.block(request, block);
            Optional<String> said = call.flatMap(known -> rules.taken(known).map(reason -> Ending.said(known, reason)));
            if (said.isPresent()) {
                gone.add(block.getOrDefault("id", ""));
            } else if (call.isPresent()) {
                called = true;
            } else {
                said = result(block, gone);
            }
            if (said.isPresent()) {
                changed = changed.with(pointer(at, i), Ending.block(said.get()));
            }
        }
        return new Lists(changed, !gone.isEmpty(), called);
    }

    /** What is said in the place of a result whose call is gone. */
    static Optional<String> result(Map<String, Object> block, Set<Object> gone) {
        return ModelCalls.type(block).endsWith("tool_result") && gone.contains(block.get("tool_use_id"))
                ? Optional.of("[Its result was blocked too.]")
                : Optional.empty();
    }

    /**
     * Items of the Responses API.
     *
     * @param known what stands in the place of those that were taken before
     */
    static Lists items(
            Rules rules, ModelRequest request, JsonText json, String at, Map<Object, Map<String, Object>> known) {
        JsonText changed = json;
        Map<Object, Map<String, Object>> taken = new HashMap<>(known);
        boolean called = false;
        List<?> list = ModelCalls.list(json.at(at).orElse(""));
        for (int i = 0; i < list.size(); i++) {
            Map<String, Object> item = ModelCalls.object(list.get(i));
            Object place = (long) i;
            if (ModelCalls.isCall(item)) {
                Call call = ModelCalls.item(request, List.of(item), "");
                Optional<String> reason = rules.taken(call);
                reason.ifPresent(why -> taken.putIfAbsent(place, Ending.message(place, Ending.said(call, why))));
                called |= reason.isEmpty();
            }
            if (taken.containsKey(place)) {
                changed = changed.with(pointer(at, i), taken.get(place));
            }
        }
        return new Lists(changed, !taken.isEmpty(), called);
    }

    /** A message of Chat Completions. */
    static Lists message(Rules rules, ModelRequest request, JsonText json, String at) {
        JsonText changed = json;
        List<String> said = new ArrayList<>();
        boolean called = false;
        List<?> list = ModelCalls.list(json.at(at + "/tool_calls").orElse(""));
        // From the last one back, so that the places of those before it stay what they are.
        for (int i = list.size() - 1; i >= 0; i--) {
            Map<String, Object> call = ModelCalls.object(list.get(i));
            boolean custom = call.containsKey("custom");
            Map<String, Object> function = ModelCalls.object(call.get(custom ? "custom" : "function"));
            Optional<String> why = denied(rules, request, function, custom);
            if (why.isPresent()) {
                said.addFirst(why.get());
                changed = changed.without(pointer(at + "/tool_calls", i));
            } else {
                called = true;
            }
        }
        if (!said.isEmpty()
                && ModelCalls.list(changed.at(at + "/tool_calls").orElse("")).isEmpty()) {
            changed = changed.without(at + "/tool_calls");
        }
        Map<String, Object> old =
                ModelCalls.object(json.at(at + "/function_call").orElse(""));
        if (!old.isEmpty()) {
            Optional<String> why = denied(rules, request, old, false);
            if (why.isPresent()) {
                said.add(why.get());
                changed = changed.without(at + "/function_call");
            } else {
                called = true;
            }
        }
        if (said.isEmpty()) {
            return new Lists(json, false, called);
        }
        json.string(at + "/content").filter(text -> !text.isEmpty()).ifPresent(said::addFirst);
        return new Lists(changed.with(at + "/content", String.join("\n\n", said)), true, called);
    }

    private static Optional<String> denied(
            Rules rules, ModelRequest request, Map<String, Object> function, boolean custom) {
        Object arguments = function.get(custom ? "input" : "arguments");
        Call call = ModelCalls.function(
                request, List.of(ModelCalls.text(function.get("name"))), arguments == null ? "" : arguments, !custom);
        return rules.taken(call).map(reason -> Ending.said(call, reason));
    }

    /** With the reason of an answer that has no call left. */
    static JsonText settled(ModelApi api, JsonText json, String at) {
        Optional<Object> reason = json.at(at);
        return reason.isEmpty() || Ending.reason(api, reason.get()).equals(reason.get())
                ? json
                : json.with(at, Ending.reason(api, reason.get()));
    }
}
