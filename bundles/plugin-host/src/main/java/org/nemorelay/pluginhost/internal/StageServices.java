package org.nemorelay.pluginhost.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.nemorelay.pipeline.Share;
import org.nemorelay.pipeline.Stage;
import org.nemorelay.pipeline.StageThreads;
import org.nemorelay.pipeline.Stages;
import org.nemorelay.plugin.api.EventMetadataInjector;
import org.nemorelay.plugin.api.EventSanitizer;
import org.nemorelay.plugin.api.ExecutionIntercept;
import org.nemorelay.plugin.api.RequestGuardrail;
import org.nemorelay.plugin.api.RequestIntercept;
import org.nemorelay.plugin.api.StreamIntercept;
import org.nemorelay.telemetry.EventLog;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;

/** The plugins' services around model requests and records, all on the same threads, each with its share of them. Safe for any thread. */
final class StageServices {
    private static final String HOLDS =
            "reads the bodies of requests or may send them again, so each is held until all of it is here";

    private final BundleContext context;
    private final EventLog log;
    private final Runnable changed;
    private final StuckCalls stuck;
    private final BiConsumer<Bundle, String> left;
    private final long closeMillis;
    private final StageThreads threads;
    private final List<PluginServices<?, ?>> all = new ArrayList<>();
    private final PluginServices<RequestGuardrail, Stage<RequestGuardrail>> guardrails;
    private final PluginServices<RequestIntercept, Stage<RequestIntercept>> intercepts;
    private final PluginServices<ExecutionIntercept, Stage<ExecutionIntercept>> executions;
    private final PluginServices<StreamIntercept, Stage<StreamIntercept>> streams;
    private final PluginServices<EventMetadataInjector, Stage<EventMetadataInjector>> injectors;
    private final PluginServices<EventSanitizer, Stage<EventSanitizer>> sanitizers;

    /**
     * @param left told of a service that is gone and whose calls have not come back, by bundle and kind
     * @param closeMillis how long a service that goes away may take for what it was given
     */
    StageServices(
            BundleContext context,
            EventLog log,
            BiConsumer<Bundle, String> left,
            long closeMillis,
            Runnable changed,
            StuckCalls stuck) {
        this.context = context;
        this.left = left;
        this.closeMillis = closeMillis;
        this.log = log;
        this.changed = changed;
        this.stuck = stuck;
        this.threads = new StageThreads(log, System::nanoTime);
        this.guardrails = services(RequestGuardrail.class, RequestGuardrail::priority, RequestGuardrail::needsBody);
        this.intercepts = services(RequestIntercept.class, RequestIntercept::priority, RequestIntercept::needsBody);
        this.executions =
                services(ExecutionIntercept.class, ExecutionIntercept::priority, ExecutionIntercept::needsBody);
        this.streams = services(StreamIntercept.class, StreamIntercept::priority, StreamIntercept::needsBody);
        this.injectors = services(EventMetadataInjector.class, EventMetadataInjector::priority, service -> false);
        this.sanitizers = services(EventSanitizer.class, EventSanitizer::priority, service -> false);
    }

    void open() {
        all.forEach(PluginServices::open);
    }

    /** Lets every service finish, and leaves one that does not. */
    void close() {
        all.forEach(PluginServices::close);
        threads.close();
    }

    /** Whether all services of a bundle, if it has any, are among those that serve. */
    boolean serve(Bundle bundle) {
        return all.stream().allMatch(services -> services.serve(bundle));
    }

    /** The services of the bundles that are to be seen. */
    Stages serving(Predicate<Bundle> shown) {
        return new Stages(
                guardrails.serving(shown),
                intercepts.serving(shown),
                executions.serving(shown),
                streams.serving(shown),
                injectors.serving(shown),
                sanitizers.serving(shown));
    }

    /** What an administrator reads about a plugin for whose sake requests are held; empty for any other. */
    Optional<String> remark(String plugin) {
        Stages all = serving(bundle -> true);
        return Stream.of(all.guardrails(), all.intercepts(), all.executions(), all.streams())
                        .flatMap(List::stream)
                        .anyMatch(stage -> stage.plugin().equals(plugin) && holds(stage))
                ? Optional.of(HOLDS)
                : Optional.empty();
    }

    /** An execution intercept may send a request more than once. */
    private static boolean holds(Stage<?> stage) {
        return stage.needsBody() || stage.service() instanceof ExecutionIntercept;
    }

    private <S> PluginServices<S, Stage<S>> services(Class<S> type, ToIntFunction<S> priority, Predicate<S> needsBody) {
        PluginServices<S, Stage<S>> services = new PluginServices<>(
                context,
                left,
                closeMillis,
                type,
                (name, activation, started) -> start(name, activation, started, priority, needsBody),
                changed);
        all.add(services);
        return services;
    }

    /** Activates a service on its own share, and asks it there what is asked once. */
    private <S> PluginServices.Runner start(
            String name,
            Supplier<Optional<S>> activation,
            Consumer<Optional<Stage<S>>> started,
            ToIntFunction<S> priority,
            Predicate<S> needsBody) {
        StuckCalls.Service calls = stuck.of(name);
        Share share = threads.share(name, calls);
        share.run(() -> started.accept(activation.get().map(service -> stage(service, share, priority, needsBody))));
        return millis -> {
            calls.over();
            boolean ended = share.close(millis);
            // What the service left in a thread must not keep its class loader.
            threads.renew();
            return ended;
        };
    }

    /** A service that cannot tell what it needs is not left out: it would be asked about nothing, and stop nobody. */
    private <S> Stage<S> stage(S service, Share share, ToIntFunction<S> priority, Predicate<S> needsBody) {
        try {
            Stage<S> stage = new Stage<>(service, share, priority.applyAsInt(service), needsBody.test(service));
            if (holds(stage)) {
                log.log(
                        EventLog.Level.INFO,
                        PluginHostComponent.TARGET,
                        "plugin_holds_requests",
                        "plugin " + share.plugin() + " " + HOLDS,
                        "plugin",
                        share.plugin());
            }
            return stage;
        } catch (Throwable e) {
            log.log(
                    EventLog.Level.ERROR,
                    PluginHostComponent.TARGET,
                    "plugin_failed",
                    "plugin " + share.plugin() + " failed in priority or needsBody: " + Failures.line(Failures.text(e)),
                    "plugin",
                    share.plugin());
            return new Stage<>(service, share, 0, true);
        }
    }
}
