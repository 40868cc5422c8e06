package org.nemorelay.pluginhost;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.nemorelay.pipeline.Stages;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.plugin.api.ToolCall;

/**
 * The plugin services that one request runs with. Immutable.
 *
 * @param policies in the order in which they are asked
 */
public record Snapshot(List<EventSink> eventSinks, List<PolicyGate> policies, Stages stages) {
    /** How long one policy may take for one call. */
    private static final long POLICY_MILLIS = 5_000;

    /** How long all of them may take together; the hook process waits 25 s for its answer. */
    private static final long CALL_MILLIS = 15_000;

    private static final Comparator<PolicyGate> ORDER =
            Comparator.comparingInt(PolicyGate::priority).thenComparing(PolicyGate::plugin);

    /** Nobody. */
    public static final Snapshot NONE = new Snapshot(List.of(), List.of(), Stages.NONE);

    public Snapshot {
        eventSinks = List.copyOf(eventSinks);
        policies = policies.stream().sorted(ORDER).toList();
    }

    /** Whether anybody receives events: without, none need be built. */
    public boolean observed() {
        return !eventSinks.isEmpty();
    }

    /** Hands an event to every subscriber. */
    public void publish(Event event) {
        for (EventSink sink : eventSinks) {
            sink.publish(event);
        }
    }

    /** Completes when every subscriber has taken and flushed what was published before the call. */
    public CompletableFuture<Void> flush() {
        return all(EventSink::flush);
    }

    /** Completes when every subscriber has taken what was published before the call. */
    public CompletableFuture<Void> taken() {
        return all(EventSink::taken);
    }

    /**
     * Asks one policy after the other until one denies the call. The future does not fail and completes within 15 s, on any
     * thread, a plugin's own too.
     */
    public CompletableFuture<Ruling> rule(ToolCall call) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CALL_MILLIS);
        return rule(call, List.of(), deadline);
    }

    /**
     * What becomes of a hook that may be about a tool call and that no policy can read: the first one denies it.
     *
     * @param why ends a sentence that begins with "it"; for the agent
     */
    public Ruling unreadable(String why) {
        if (policies.isEmpty()) {
            return Ruling.NONE;
        }
        String plugin = policies.getFirst().plugin();
        Instant now = Instant.now();
        return new Ruling(List.of(new Judgement(
                plugin,
                now,
                now,
                new Judgement.Verdict.Failed(
                        "the policy plugin \"" + plugin + "\" cannot judge this hook, so it is denied: it " + why))));
    }

    private CompletableFuture<Ruling> rule(ToolCall call, List<Judgement> before, long deadline) {
        if (before.size() == policies.size()) {
            return CompletableFuture.completedFuture(new Ruling(before));
        }
        long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        return policies.get(before.size())
                .judge(call, Math.clamp(left, 1, POLICY_MILLIS))
                .thenCompose(judgement -> {
                    List<Judgement> judgements = new ArrayList<>(before);
                    judgements.add(judgement);
                    return judgement.denial().isPresent()
                            ? CompletableFuture.completedFuture(new Ruling(judgements))
                            : rule(call, judgements, deadline);
                });
    }

    private CompletableFuture<Void> all(Function<EventSink, CompletableFuture<Void>> each) {
        return CompletableFuture.allOf(eventSinks.stream().map(each).toArray(CompletableFuture[]::new));
    }
}
