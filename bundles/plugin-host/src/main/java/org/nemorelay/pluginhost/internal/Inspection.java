package org.nemorelay.pluginhost.internal;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
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

    /** Of what a plan names and what lies in the folders. */
    List<PluginCheck.Finding> all(PluginPlan now) {
        files.take(files.look(), Set.of());
        Change change = new Change(deployment, now);
        List<PluginCheck.Finding> findings = new ArrayList<>();
        Set<Generation> taken = new HashSet<>();
        for (PluginPlan.Component component : now.components()) {
            Optional<Generation> provider = change.provider(component).map(files::generation);
            Optional<String> trouble = change.troubles.stream()
                    .filter(one -> one.component() == component)
                    .map(Change.Trouble::line)
                    .findFirst()
                    .or(() -> provider.flatMap(generation -> unusable(generation)
                            .map(reason -> generation.file() + ": plugin \"" + component.kind() + "\" " + reason)));
            Optional<Generation> shown = provider.or(() -> files.generations().stream()
                    .filter(generation -> generation.kind(component.kind()).isPresent())
                    .findFirst());
            shown.ifPresent(taken::add);
            findings.add(finding(component.kind(), shown, trouble.orElse(""), Optional.of(component)));
        }
        files.seen().forEach((file, one) -> {
            one.generation().filter(generation -> !taken.contains(generation)).ifPresent(generation -> {
                String trouble = unusable(generation)
                        .map(reason -> "plugin file " + file + " " + reason)
                        .orElse("");
                if (generation.kinds().isEmpty()) {
                    findings.add(finding("", Optional.of(generation), trouble, Optional.empty()));
                }
                generation
                        .kinds()
                        .forEach(kind ->
                                findings.add(finding(kind.name(), Optional.of(generation), trouble, Optional.empty())));
            });
            if (!one.refusal().isEmpty()) {
                findings.add(new PluginCheck.Finding(
                        new PluginStatus(
                                "",
                                "",
                                State.QUARANTINED,
                                file.toString(),
                                "plugin file " + file + " " + one.refusal()),
                        "",
                        "",
                        Optional.empty(),
                        false));
            }
        });
        for (Entry entry : files.applied()) {
            if (entry instanceof Entry.Ignored(Path file, String reason)) {
                findings.add(new PluginCheck.Finding(
                        new PluginStatus("", "", State.IDLE, file.toString(), reason),
                        "",
                        "",
                        Optional.empty(),
                        false));
            }
        }
        return List.copyOf(findings);
    }

    /** The same for one jar, wherever it lies. */
    List<PluginCheck.Finding> jar(Path jar) {
        try {
            Generation generation = files.install(jar);
            String trouble = generation
                    .refusal()
                    .or(() -> unusable(generation))
                    .or(() -> generation.kinds().isEmpty()
                            ? Optional.of("provides no plugin kind: annotate its component with @PluginKind")
                            : Optional.empty())
                    .map(reason -> "plugin file " + jar + " " + reason)
                    .orElse("");
            List<PluginCheck.Finding> findings = new ArrayList<>();
            for (Generation.Kind kind : generation.kinds()) {
                findings.add(finding(kind.name(), Optional.of(generation), trouble, Optional.empty()));
            }
            return findings.isEmpty()
                    ? List.of(finding("", Optional.of(generation), trouble, Optional.empty()))
                    : List.copyOf(findings);
        } catch (PluginFiles.Unusable e) {
            return List.of(new PluginCheck.Finding(
                    new PluginStatus(
                            "", "", State.QUARANTINED, jar.toString(), "plugin file " + jar + " " + e.getMessage()),
                    "",
                    "",
                    Optional.empty(),
                    false));
        }
    }

    private static Optional<String> unusable(Generation generation) {
        return generation
                .unresolved()
                .or(() -> generation.kinds().isEmpty() || generation.hasComponents()
                        ? Optional.empty()
                        : Optional.of("has no component: its manifest lacks Service-Component; build it with bnd"));
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
                component.isPresent() && Starts.required(component.get(), generation));
    }
}
