package org.nemorelay.plugin.testkit;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import org.nemorelay.pipeline.Answer;
import org.nemorelay.pipeline.Clearance;
import org.nemorelay.pipeline.Pipeline;
import org.nemorelay.pipeline.Records;
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
    private static final long PATIENCE_SECONDS = 30;

    private final List<Object> services;
    private final List<String> log = new CopyOnWriteArrayList<>();
    private final AtomicLong clock = new AtomicLong();
    private final StageThreads threads = new StageThreads(new Log(), clock::get);
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
        ModelRequest offered = stages.needBody() || !stages.executions().isEmpty()
                ? request
                : ModelRequest.ofHead(request.api(), request.path(), request.headers());
        int before = provider.requests().size();
        Clearance clearance = await(pipeline.admit(offered));
        return switch (clearance.verdict()) {
            case Clearance.Verdict.Refused(var refusal) ->
                new Exchange(
                        request.api(),
                        List.of(),
                        refusal.status(),
                        HeaderMap.of().with("content-type", "application/json"),
                        refusal.json(request.api()),
                        true);
            case Clearance.Verdict.Go(ModelRequest admitted) -> {
                // A body that no service reads is sent as it came.
                Answer answer = await(pipeline.execute(
                        admitted,
                        changed ->
                                provider.send(changed.hasBody() ? changed : request.withHeaders(changed.headers()))));
                yield exchange(
                        request,
                        answer,
                        provider.requests().subList(before, provider.requests().size()));
            }
        };
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
                    } catch (Exception e) {
                        log.add("plugin_failed plugin " + name(service) + " failed in onEvent: " + e.getMessage());
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
        for (HookPolicy policy : policies) {
            Decision said;
            try {
                said = await(share(policy)
                        .ask(DECIDE_NANOS, () -> policy.decide(call).thenApply(Objects::requireNonNull)));
            } catch (CompletionException e) {
                return Decision.deny(e.getCause().getMessage().replaceFirst("^the plugin", "the policy plugin")
                        + ", so this tool call is denied");
            }
            if (said instanceof Decision.Deny) {
                return said;
            }
            if (said instanceof Decision.Ask && decision instanceof Decision.Allow) {
                decision = said;
            }
        }
        return decision;
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

    private final class Log implements EventLog {
        @Override
        public boolean enabled(Level level) {
            return true;
        }

        @Override
        public void log(Level level, String target, String event, String message, Object... fields) {
            log.add(event + " " + message);
        }

        @Override
        public void flush() {}
    }
}
