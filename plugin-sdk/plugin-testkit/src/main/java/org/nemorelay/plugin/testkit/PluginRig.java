package org.nemorelay.plugin.testkit;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import org.nemorelay.pipeline.Answer;
import org.nemorelay.pipeline.Clearance;
import org.nemorelay.pipeline.Pipeline;
import org.nemorelay.pipeline.Records;
import org.nemorelay.pipeline.Refusal;
import org.nemorelay.pipeline.Share;
import org.nemorelay.pipeline.Stage;
import org.nemorelay.pipeline.StageThreads;
import org.nemorelay.pipeline.Stages;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.plugin.api.EventMetadataInjector;
import org.nemorelay.plugin.api.EventSanitizer;
import org.nemorelay.plugin.api.EventSubscriber;
import org.nemorelay.plugin.api.ExecutionIntercept;
import org.nemorelay.plugin.api.HeaderMap;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.RequestGuardrail;
import org.nemorelay.plugin.api.RequestIntercept;
import org.nemorelay.plugin.api.StreamIntercept;
import org.nemorelay.plugin.api.ToolCall;
import org.nemorelay.telemetry.EventLog;

/**
 * Plugins in the relay's pipeline, without a framework and without sockets: what a worker does with a request, an event and a
 * tool call, with the same order, limits and rules for failures. Time stands still until {@link #advance} moves it.
 */
public final class PluginRig implements AutoCloseable {
    /** As {@code max_passthrough_body_bytes}. */
    private static final long LIMIT = 1024 * 1024;

    private static final long DECIDE_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long DECIDE_ALL_NANOS = TimeUnit.SECONDS.toNanos(15);
    private static final long PATIENCE_SECONDS = 30;

    private final List<Object> services;
    private final List<String> log = new CopyOnWriteArrayList<>();
    private final AtomicLong clock = new AtomicLong();
    private final StageThreads threads = new StageThreads(new Log(log::add), clock::get);
    /** Of the policies, whose failures are told in other words. */
    private final StageThreads deciding = new StageThreads(new Log(line -> {}), clock::get);

    private final Stages stages;

    private PluginRig(List<Object> services) {
        this.services = services;
        this.stages = new Stages(
                of(RequestGuardrail.class, RequestGuardrail::priority, RequestGuardrail::needsBody),
                of(RequestIntercept.class, RequestIntercept::priority, RequestIntercept::needsBody),
                of(ExecutionIntercept.class, ExecutionIntercept::priority, ExecutionIntercept::needsBody),
                of(StreamIntercept.class, StreamIntercept::priority, StreamIntercept::needsBody),
                of(EventMetadataInjector.class, EventMetadataInjector::priority, service -> false),
                of(EventSanitizer.class, EventSanitizer::priority, service -> false));
    }

    /**
     * @param services each of one or more of the kinds of {@code org.nemorelay.plugin.api}; the class's simple name is the
     *     plugin's
     */
    public static PluginRig of(Object... services) {
        return new PluginRig(List.of(services));
    }

    /** Takes a request through every service to the provider, and the answer back. */
    public Exchange send(ModelRequest request, FakeProvider provider) {
        Pipeline pipeline = new Pipeline(stages, LIMIT);
        boolean held = stages.needBody() || !stages.executions().isEmpty();
        HeaderMap shown = AgentHeaders.shown(request.headers());
        ModelRequest offered =
                held ? request.withHeaders(shown) : ModelRequest.ofHead(request.api(), request.path(), shown);
        if (held && request.body().length() > LIMIT) {
            return refused(request.api(), Refusal.tooLarge(LIMIT));
        }
        Optional<Refusal> unreadable = held ? Refusal.unreadable(request) : Optional.empty();
        if (unreadable.isPresent()) {
            return refused(request.api(), unreadable.get());
        }
        int before = provider.requests().size();
        Clearance clearance = await(pipeline.admit(offered));
        return switch (clearance.verdict()) {
            case Clearance.Verdict.Refused(var refusal) -> refused(request.api(), refusal);
            case Clearance.Verdict.Go(ModelRequest admitted) -> {
                // A body that no service reads is sent as it came.
                Answer answer = await(pipeline.execute(
                        admitted,
                        changed -> provider.send((changed.hasBody() ? changed : request)
                                .withHeaders(AgentHeaders.sent(request.headers(), shown, changed.headers())))));
                yield exchange(
                        request,
                        answer,
                        provider.requests().subList(before, provider.requests().size()));
            }
        };
    }

    private static Exchange refused(ModelApi api, Refusal refusal) {
        return new Exchange(
                api,
                List.of(),
                refusal.status(),
                HeaderMap.of().with("content-type", "application/json"),
                refusal.json(api),
                true);
    }

    private Exchange exchange(ModelRequest request, Answer answer, List<ModelRequest> sent) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        boolean whole = true;
        try {
            for (byte[] read = await(answer.body().read().toCompletableFuture());
                    read.length > 0;
                    read = await(answer.body().read().toCompletableFuture())) {
                bytes.writeBytes(read);
            }
        } catch (CompletionException e) {
            whole = false;
        }
        return new Exchange(
                request.api(),
                List.copyOf(sent),
                answer.status(),
                answer.headers(),
                bytes.toString(StandardCharsets.UTF_8),
                whole);
    }

    /** Takes an event through injectors and sanitizers to the subscribers; returns what these got. */
    public Event record(Event event) {
        Event recorded = await(Records.process(stages, event));
        for (Object service : services) {
            if (service instanceof EventSubscriber subscriber) {
                // An observer has no budget: it delays nobody.
                await(share(service).ask(Long.MAX_VALUE, () -> {
                    try {
                        subscriber.onEvent(recorded);
                    } catch (Throwable e) {
                        log.add("plugin_failed plugin " + name(service) + " failed in onEvent: "
                                + Objects.requireNonNullElse(
                                        e.getMessage(), e.getClass().getName()));
                    }
                    return CompletableFuture.completedStage(null);
                }));
            }
        }
        return recorded;
    }

    /** Asks the policies about a tool call: the first denial stands, then the first question. */
    public Decision decide(ToolCall call) {
        List<HookPolicy> policies = services.stream()
                .filter(HookPolicy.class::isInstance)
                .map(HookPolicy.class::cast)
                .sorted(Comparator.comparingInt(HookPolicy::priority).thenComparing(PluginRig::name))
                .toList();
        Decision decision = Decision.allow();
        long deadline = clock.get() + DECIDE_ALL_NANOS;
        for (HookPolicy policy : policies) {
            Decision said = decided(policy, call, Math.clamp(deadline - clock.get(), 1, DECIDE_NANOS));
            if (said instanceof Decision.Deny) {
                return said;
            }
            if (said instanceof Decision.Ask && decision instanceof Decision.Allow) {
                decision = said;
            }
        }
        return decision;
    }

    /** One policy's word; what it does wrong is a denial, in the words of the worker's own threads for policies. */
    private Decision decided(HookPolicy policy, ToolCall call, long nanos) {
        String plugin = name(policy);
        try {
            return await(deciding.share(plugin).ask(nanos, () -> {
                try {
                    return Objects.requireNonNull(policy.decide(call), "it returned null")
                            .handle((decision, failure) -> decision != null
                                    ? decision
                                    : failed(
                                            plugin,
                                            failure != null
                                                    ? failure
                                                    : new NullPointerException("its stage completed with null")));
                } catch (Throwable e) {
                    return CompletableFuture.completedStage(failed(plugin, e));
                }
            }));
        } catch (CompletionException e) {
            log.add("plugin_slow plugin " + plugin + " took too long for a decision, the tool call is denied");
            return denied(plugin, "did not decide within " + Math.max(1, TimeUnit.NANOSECONDS.toSeconds(nanos)) + " s");
        }
    }

    private Decision failed(String plugin, Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        log.add("plugin_failed plugin " + plugin + " failed in decide, the tool call is denied: " + cause);
        return denied(plugin, "failed");
    }

    private static Decision denied(String plugin, String what) {
        return Decision.deny("the policy plugin \"" + plugin + "\" " + what + ", so this tool call is denied");
    }

    /** Moves the clock of the time budgets. */
    public void advance(Duration time) {
        clock.addAndGet(time.toNanos());
    }

    /** What the relay logged about the plugins, one line each. */
    public List<String> log() {
        return List.copyOf(log);
    }

    /** Ends the pipeline's threads. */
    @Override
    public void close() {
        threads.close();
        deciding.close();
    }

    private <S> List<Stage<S>> of(Class<S> type, ToIntFunction<S> priority, Predicate<S> needsBody) {
        List<Stage<S>> of = new ArrayList<>();
        for (Object service : services) {
            if (type.isInstance(service)) {
                S typed = type.cast(service);
                of.add(new Stage<>(typed, share(service), priority.applyAsInt(typed), needsBody.test(typed)));
            }
        }
        return of;
    }

    private Share share(Object service) {
        return threads.share(name(service));
    }

    private static String name(Object service) {
        String name = service.getClass().getSimpleName();
        return name.isEmpty() || service.getClass().isHidden() ? "plugin" : name;
    }

    private static <T> T await(CompletableFuture<T> future) {
        try {
            return future.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new CompletionException(e.getCause());
        } catch (TimeoutException e) {
            throw new IllegalStateException("nothing came in " + PATIENCE_SECONDS
                    + " s of real time; a call that never comes back is given up when advance() moves the clock");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted");
        }
    }

    private record Log(Consumer<String> lines) implements EventLog {
        @Override
        public boolean enabled(Level level) {
            return true;
        }

        @Override
        public void log(Level level, String target, String event, String message, Object... fields) {
            lines.accept(event + " " + message);
        }

        @Override
        public void flush() {}
    }
}
