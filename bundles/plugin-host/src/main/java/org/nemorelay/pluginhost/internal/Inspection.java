package org.nemorelay.pluginhost.internal;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.nemorelay.config.BundleFolders.Entry;
import org.nemorelay.config.PluginPlan;
import org.nemorelay.pluginhost.PluginCheck;
import org.nemorelay.pluginhost.PluginStatus;
import org.nemorelay.pluginhost.PluginStatus.State;

/** What a worker would find, as far as that can be told without running any code of a plugin. */
final class Inspection {
    private final Deployment deployment;
    private final PluginFiles files;

    Inspection(Deployment deployment) {
        this.deployment = deployment;
        this.files = deployment.files;
    }

    /** Of what a plan names and what lies in the folders, mistakes of the files first. */
    List<PluginCheck.Finding> all(PluginPlan now, Path folder) {
        files.take(files.look(), Set.of());
        List<PluginCheck.Finding> findings = new ArrayList<>();
        now.problems().forEach(line -> findings.add(ofFile(folder, line, State.QUARANTINED)));
        now.notes().forEach(line -> findings.add(ofFile(folder, line, State.IDLE)));
        Change change = new Change(deployment, now, Change.Waits.FOR_ALL);
        Set<String> told = new HashSet<>();
        for (PluginPlan.Component component : now.components()) {
            Optional<Generation> provider = change.provider(component).map(files::generation);
            Optional<String> trouble = change.troubles().stream()
                    .filter(one -> one.component() == component)
                    .map(Change.Trouble::line)
                    .findFirst()
                    .or(() -> provider.flatMap(generation -> wrong(component, generation, now)));
            Optional<Generation> shown = provider.or(() -> files.generations().stream()
                    .filter(generation -> generation.kind(component.kind()).isPresent())
                    .findFirst());
            shown.ifPresent(generation -> told.add(generation.file() + "\n" + component.kind()));
            findings.add(finding(component.kind(), shown, trouble.orElse(""), Optional.of(component)));
        }
        files.seen().forEach((file, one) -> {
            one.generation().ifPresent(generation -> {
                String trouble = unusable(generation)
                        .map(reason -> "plugin file " + file + " " + reason)
                        .orElse("");
                if (generation.kinds().isEmpty()) {
                    findings.add(finding("", Optional.of(generation), trouble, Optional.empty()));
                }
                for (Generation.Kind kind : generation.kinds()) {
                    if (!told.contains(file + "\n" + kind.name())) {
                        findings.add(finding(kind.name(), Optional.of(generation), trouble, Optional.empty()));
                    }
                }
            });
            if (!one.refusal().isEmpty()) {
                findings.add(file(file, State.QUARANTINED, "plugin file " + file + " " + one.refusal()));
            }
        });
        for (Entry entry : files.applied()) {
            if (entry instanceof Entry.Ignored(Path file, String reason)) {
                findings.add(file(file, State.IDLE, reason));
            }
        }
        return List.copyOf(findings);
    }

    private static Optional<String> wrong(PluginPlan.Component component, Generation generation, PluginPlan now) {
        return unusable(generation)
                .map(reason -> generation.file() + ": plugin \"" + component.kind() + "\" " + reason)
                .or(() -> Starts.misconfigured(component, generation, now));
    }

    private static PluginCheck.Finding ofFile(Path folder, String line, State state) {
        for (String name : List.of("plugins.toml", "config.toml")) {
            if (line.startsWith(folder.resolve(name).toString())) {
                return file(folder.resolve(name), state, line);
            }
        }
        return file(folder, state, line);
    }

    private static PluginCheck.Finding file(Path file, State state, String reason) {
        return new PluginCheck.Finding(
                new PluginStatus("", "", state, file.toString(), reason), "", "", Optional.empty(), false, true);
    }

    /**
     * The same for jars, wherever they lie, beside each other and what lies in the folders, and with the configuration that
     * a plan has for them.
     */
    List<PluginCheck.Finding> jars(List<Path> jars, PluginPlan now) {
        files.take(files.look(), Set.of());
        Map<Path, Generation> installed = new LinkedHashMap<>();
        Map<Path, String> refused = new LinkedHashMap<>();
        for (Path jar : jars) {
            try {
                installed.put(jar, files.install(jar));
            } catch (PluginFiles.Unusable e) {
                refused.put(jar, e.getMessage());
            }
        }
        List<PluginCheck.Finding> findings = new ArrayList<>();
        for (Path jar : jars) {
            Optional.ofNullable(refused.get(jar))
                    .ifPresent(
                            reason -> findings.add(file(jar, State.QUARANTINED, "plugin file " + jar + " " + reason)));
            Optional.ofNullable(installed.get(jar)).ifPresent(generation -> findings.addAll(jar(generation, now)));
        }
        return List.copyOf(findings);
    }

    private static List<PluginCheck.Finding> jar(Generation generation, PluginPlan now) {
        Optional<String> trouble = generation
                .refusal()
                .or(() -> unusable(generation))
                .or(() -> generation.kinds().isEmpty()
                        ? Optional.of("provides no plugin kind: annotate its component with @PluginKind")
                        : Optional.empty())
                .map(reason -> "plugin file " + generation.file() + " " + reason);
        if (generation.kinds().isEmpty()) {
            return List.of(finding("", Optional.of(generation), trouble.orElse(""), Optional.empty()));
        }
        List<PluginCheck.Finding> findings = new ArrayList<>();
        for (Generation.Kind kind : generation.kinds()) {
            Optional<PluginPlan.Component> planned = now.components().stream()
                    .filter(component -> component.kind().equals(kind.name()))
                    .findFirst();
            Optional<String> wrong =
                    trouble.or(() -> planned.flatMap(component -> Starts.misconfigured(component, generation, now)));
            findings.add(finding(kind.name(), Optional.of(generation), wrong.orElse(""), planned));
        }
        return findings;
    }

    private static Optional<String> unusable(Generation generation) {
        return generation.unresolved().or(generation::componentless);
    }

    private static PluginCheck.Finding finding(
            String kind, Optional<Generation> generation, String trouble, Optional<PluginPlan.Component> component) {
        return new PluginCheck.Finding(
                new PluginStatus(
                        kind,
                        generation.map(Generation::version).orElse(""),
                        trouble.isEmpty() ? State.IDLE : State.QUARANTINED,
                        generation.map(one -> one.file().toString()).orElse(""),
                        trouble),
                generation.map(one -> one.bundle().getSymbolicName()).orElse(""),
                generation.map(Generation::sha256).orElse(""),
                component,
                component.isPresent() && Starts.required(component.get(), generation),
                generation
                        .flatMap(one -> one.kind(kind))
                        .flatMap(Generation.Kind::keys)
                        .isPresent());
    }
}
