package org.nemorelay.pluginhost.internal;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.nemorelay.config.PluginPlan;
import org.nemorelay.pluginhost.internal.Change.Trouble;
import org.nemorelay.protocol.FailureKind;

/** What a change is going to make run, each kind in one place, and why what the plan wants has none. */
final class Places {
    private final PluginPlan wanted;
    private final PluginFiles files;
    private final Set<Generation> running;

    /** What runs when the change is made; each kind in one of them. */
    final Set<Generation> next = new LinkedHashSet<>();

    final List<Trouble> troubles = new ArrayList<>();

    /** Which planned kinds a file is to provide. */
    private final Map<Path, Set<String>> kinds = new HashMap<>();

    /** @param running what runs until the change is made */
    Places(PluginPlan wanted, PluginFiles files, Set<Generation> running) {
        this.wanted = wanted;
        this.files = files;
        this.running = running;
    }

    void provides(Path file, Set<String> planned) {
        kinds.put(file, planned);
    }

    private Set<String> kinds(Path file) {
        return kinds.getOrDefault(file, Set.of());
    }

    /** A bundle runs with all of its planned kinds or with none. */
    void fails(PluginPlan.Component component, Generation generation, String line, FailureKind kind) {
        trouble(component, kind, line, Starts.required(component, Optional.of(generation)));
        for (PluginPlan.Component other : wanted.components()) {
            if (other != component
                    && kinds(generation.file()).contains(other.kind())
                    && troubles.stream().noneMatch(trouble -> trouble.component() == other)) {
                trouble(
                        other,
                        kind,
                        other.position() + ": plugin \"" + other.kind() + "\" does not run because plugin \""
                                + component.kind() + "\" of the same file " + generation.file()
                                + " does not; correct that one",
                        Starts.required(other, Optional.of(generation)));
            }
        }
        out(generation);
    }

    /** Neither it nor what is wired to it takes a place that is taken; what has those places goes on. */
    private void out(Generation generation) {
        next.remove(generation);
        for (Generation other : List.copyOf(next)) {
            if (!running.contains(other)
                    && kinds(other.file()).stream()
                            .anyMatch(kind -> serving(kind).isPresent())
                    && other.dependsOn(Set.of(generation.bundle()))) {
                withdraw(other, "uses classes of " + generation.file() + ", which does not run");
            }
        }
        keep(generation.file());
    }

    Optional<Generation> serving(String kind) {
        return running.stream()
                .filter(generation -> generation.wanted().containsKey(kind))
                .findFirst();
    }

    /** What serves a kind goes on until another version of it is in force. */
    void keep(String kind) {
        serving(kind).ifPresent(this::keep);
    }

    /** The same for all that a file is to provide. */
    void keep(Path file) {
        kinds(file).forEach(this::keep);
    }

    /** One goes on with all that it serves, and with what it uses. */
    void keep(Generation before) {
        if (!next.add(before)) {
            return;
        }
        for (Generation other : List.copyOf(next)) {
            if (!running.contains(other) && shares(before, other.file())) {
                withdraw(other, heldBy(before));
            }
        }
        running.stream()
                .filter(used -> used != before && before.dependsOn(Set.of(used.bundle())))
                .forEach(this::keep);
    }

    /** Whether a part of what a file is to provide goes on, which is told; the rest of that goes on too. */
    boolean held(Path file) {
        Optional<Generation> before = next.stream()
                .filter(one -> running.contains(one) && shares(one, file))
                .findFirst();
        before.ifPresent(one -> withdraw(files.generation(file), heldBy(one)));
        return before.isPresent();
    }

    private boolean shares(Generation before, Path file) {
        return kinds(file).stream().anyMatch(before.wanted()::containsKey);
    }

    private static String heldBy(Generation before) {
        return "waits, because another plugin of " + before.file() + ", the file it was in, has to go on";
    }

    /** It could run, and must not. */
    private void withdraw(Generation generation, String why) {
        for (PluginPlan.Component component : wanted.components()) {
            if (kinds(generation.file()).contains(component.kind())
                    && troubles.stream().noneMatch(trouble -> trouble.component() == component)) {
                fails(
                        component,
                        generation,
                        component.position() + ": plugin \"" + component.kind() + "\" (" + generation.file() + ") "
                                + why + "; correct that one",
                        FailureKind.PLUGIN);
            }
        }
        out(generation);
    }

    void trouble(PluginPlan.Component component, FailureKind kind, String line, boolean required) {
        troubles.add(new Trouble(component, kind, line, required));
    }
}
