package org.nemorelay.pluginhost.internal;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.nemorelay.config.PluginPlan;
import org.nemorelay.telemetry.EventLog;
import org.osgi.framework.Bundle;

/** What came of a plugin's start, and the lines that say so. */
final class Starts {
    private static final int MAX_REGISTERED = 1_000;

    private final ComponentStates components;
    private final Predicate<Bundle> serves;
    private final EventLog log;

    /**
     * A component whose plugin is being started.
     *
     * @param begun by {@link System#nanoTime}
     * @param millis how long it may take from then
     */
    record Planned(PluginPlan.Component component, Generation generation, long begun, long millis) {
        boolean late() {
            return System.nanoTime() - begun >= TimeUnit.MILLISECONDS.toNanos(millis);
        }
    }

    /** @param serves whether all services of a bundle are in use */
    Starts(ComponentStates components, Predicate<Bundle> serves, EventLog log) {
        this.components = components;
        this.serves = serves;
        this.log = log;
    }

    /** Empty while it goes on; then empty inside when the component runs, else why not. */
    Optional<Optional<String>> outcome(Planned one, PluginPlan of) {
        Generation generation = one.generation();
        String kind = one.component().kind();
        Optional<String> started = generation.started();
        if (started.isEmpty()) {
            return Optional.empty();
        }
        if (!started.get().isEmpty()) {
            return failed(generation.file() + ": plugin \"" + kind + "\" " + started.get());
        }
        int registered = Optional.ofNullable(generation.bundle().getRegisteredServices())
                .map(services -> services.length)
                .orElse(0);
        if (registered > MAX_REGISTERED) {
            return failed(generation.file() + ": plugin \"" + kind + "\" registers " + registered
                    + " services, more than the " + MAX_REGISTERED + " that one plugin may have: correct the plugin");
        }
        return switch (components.of(generation.bundle(), kind)) {
            case ComponentStates.Pending _ -> Optional.empty();
            // Active by our use of it, and about to be in the snapshot.
            case ComponentStates.Active _ ->
                serves.test(generation.bundle()) ? Optional.of(Optional.empty()) : Optional.empty();
            case ComponentStates.Absent _ ->
                failed(generation.file() + ": the bundle says that it provides the plugin kind \"" + kind
                        + "\" but has no component with that configuration PID; correct the plugin");
            case ComponentStates.Failed(String stackTrace) -> failed(activationLine(one, of, stackTrace));
        };
    }

    /** What is wrong with a component's configuration, by what the bundle declares of it; told before anything of it runs. */
    static Optional<String> misconfigured(PluginPlan.Component component, Generation generation, PluginPlan of) {
        String kind = component.kind();
        List<String> lines = generation.kind(kind).flatMap(Generation.Kind::keys).stream()
                .flatMap(keys -> keys.problems(of.configuration(kind)).stream())
                .map(problem -> line(component, of, problem.key(), problem.message()))
                .toList();
        return lines.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", lines));
    }

    private static String line(PluginPlan.Component component, PluginPlan of, String key, String message) {
        return of.position(component.kind(), key).orElse(component.position()) + ": plugin \"" + component.kind()
                + "\": " + key + ": " + message;
    }

    private static Optional<Optional<String>> failed(String line) {
        return Optional.of(Optional.of(line));
    }

    private static String activationLine(Planned one, PluginPlan of, String stackTrace) {
        PluginPlan.Component component = one.component();
        String kind = component.kind();
        Optional<Failures.BadValue> bad = Failures.badValue(stackTrace);
        if (bad.isPresent()) {
            return line(component, of, bad.get().key(), bad.get().message());
        }
        return component.position() + ": plugin \"" + kind + "\" ("
                + one.generation().file() + ") does not start: " + Failures.cause(stackTrace)
                + "; correct the plugin or remove the component";
    }

    String slow(Planned one) {
        return one.component().position() + ": plugin \"" + one.component().kind() + "\" ("
                + one.generation().file() + ") is not active after "
                + TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - one.begun()) + " s and is abandoned"
                + components.waitingFor(
                        one.generation().bundle(), one.component().kind())
                + "; correct the plugin or remove the component";
    }

    /** @param what waits for it */
    void nameSlow(Planned one, long seconds, String what) {
        log.log(
                EventLog.Level.WARN,
                PluginHostComponent.TARGET,
                "plugin_slow",
                "plugin " + one.component().kind() + " is not active after " + seconds
                        + " seconds, " + what
                        + components.waitingFor(
                                one.generation().bundle(), one.component().kind()),
                "plugin",
                one.component().kind());
    }

    /** A plugin that only observes may be missing; every other one must not. */
    static boolean required(PluginPlan.Component component, Optional<Generation> provider) {
        return component
                .required()
                .orElse(!provider.flatMap(generation -> generation.kind(component.kind()))
                        .map(Generation.Kind::observer)
                        .orElse(false));
    }
}
