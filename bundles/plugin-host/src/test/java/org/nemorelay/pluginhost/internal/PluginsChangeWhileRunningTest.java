package org.nemorelay.pluginhost.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.api.RequestIntercept;
import org.nemorelay.pluginhost.PluginHost;
import org.nemorelay.pluginhost.PluginStatus;
import org.nemorelay.pluginhost.PluginStatus.State;
import org.nemorelay.pluginhost.internal.MadeUpPlugins.Denying;
import org.nemorelay.pluginhost.internal.MadeUpPlugins.DenyingLoudly;
import org.nemorelay.pluginhost.internal.MadeUpPlugins.Failing;
import org.osgi.framework.Bundle;

/** Plugins come, go and change while requests run, by their files and by plugins.toml. */
class PluginsChangeWhileRunningTest extends WithHost {
    @Test
    void aPluginThatIsDroppedInAndThenNamedRuns() throws Exception {
        start();
        host.jar("etc/plugins/p.jar", "p", Denying.class, policies("p"));
        host.plan("p", BY_KIND, Map.of("reason", "one")).replan();
        awaitReason("one");
        assertEquals(State.ACTIVE, state("p").state());
    }

    @Test
    void aPluginThatIsNamedBeforeItIsThereRunsOnceItIs() throws Exception {
        start();
        host.plan("p", BY_KIND, Map.of("reason", "one")).replan();
        host.awaitLog("ERROR plugins_rejected: plugins.toml:1:1: no bundle in ");
        host.jar("etc/plugins/p.jar", "p", Denying.class, policies("p"));
        awaitReason("one");
    }

    @Test
    void anotherConfigurationTakesEffectAndABadOneChangesNothing() throws Exception {
        host.jar("etc/plugins/p.jar", "p", Denying.class, policies("p"));
        host.plan("p", BY_KIND, Map.of("reason", "one"));
        start();
        awaitReason("one");
        host.noPlan().plan("p", BY_KIND, Map.of("reason", "two")).replan();
        awaitReason("two");
        // Records repeat the configuration, and requests ask for it.
        host.await(
                () -> plugins.configuration().toString().contains("reason=two"),
                () -> plugins.configuration().toString());
        host.noPlan().plan("p", BY_KIND, Map.of("reason", "bad")).replan();
        host.awaitLog("ERROR plugins_rejected: plugins.toml:7:2: plugin \"p\": reason: must not be bad, write another"
                + "; plugins.toml changes nothing until this is corrected");
        assertEquals(Optional.of("two"), reason());
        assertEquals(State.ACTIVE, state("p").state());
        host.await(() -> state("p").reason().contains("must not be bad"), () -> state("p") + " " + host.log);
        assertTrue(state("p").outdated());
        assertEquals(
                1,
                host.log.stream()
                        .filter(line -> line.contains("must not be bad"))
                        .count(),
                () -> host.log.toString());
        host.noPlan().plan("p", BY_KIND, Map.of("reason", "three")).replan();
        awaitReason("three");
        host.await(() -> state("p").reason().isEmpty(), () -> state("p") + " " + host.log);
        assertFalse(state("p").outdated());
    }

    @Test
    void oneBadComponentKeepsAllOfTheFileOut() throws Exception {
        host.jar("etc/plugins/p.jar", "p", Denying.class, policies("p"));
        host.jar("etc/plugins/q.jar", "q", Denying.class, policies("q"));
        host.plan("p", BY_KIND, Map.of("reason", "one"));
        start();
        host.noPlan()
                .plan("p", BY_KIND, Map.of("reason", "two"))
                .plan("q", BY_KIND, Map.of("reason", "bad"))
                .replan();
        host.awaitLog("ERROR plugins_rejected: plugins.toml:17:2: plugin \"q\"");
        host.await(
                () -> state("p").state() == State.ACTIVE, () -> plugins.status().toString());
        assertEquals(Optional.of("one"), reason());
        assertEquals(1, plugins.snapshot().policies().size());
    }

    @Test
    void aFileThatIsNotTakenIsInTheStatusUntilItIs() throws Exception {
        host.jar("etc/plugins/p.jar", "p", Denying.class, policies("p"));
        host.plan("p", BY_KIND, Map.of("reason", "one"));
        start();
        awaitReason("one");
        host.reject("/etc/plugins.toml", "/etc/plugins.toml is gone");
        PluginStatus told =
                new PluginStatus("", "", State.QUARANTINED, "/etc/plugins.toml", "/etc/plugins.toml is gone");
        host.await(() -> plugins.status().contains(told), () -> plugins.status().toString());
        assertEquals(State.ACTIVE, state("p").state());
        host.unreject();
        host.await(
                () -> !plugins.status().contains(told), () -> plugins.status().toString());
        awaitReason("one");
    }

    @Test
    void anOldTroubleKeepsNoOtherChangeOut() throws Exception {
        host.jar("etc/plugins/p.jar", "p", Denying.class, policies("p"));
        host.plan("nope", Optional.of(false), Map.of()).plan("p", BY_KIND, Map.of("reason", "one"));
        start();
        host.noPlan()
                .plan("nope", Optional.of(false), Map.of())
                .plan("p", BY_KIND, Map.of("reason", "two"))
                .replan();
        awaitReason("two");
    }

    @Test
    void severalChangesBecomeOneSnapshot() throws Exception {
        start();
        for (String kind : List.of("a", "b", "c")) {
            host.jar(
                    "etc/plugins/" + kind + ".jar",
                    kind,
                    Denying.class,
                    Map.of("Provide-Capability", "org.nemorelay.plugin;kind=" + kind));
            host.plan(kind, BY_KIND, Map.of("reason", kind));
        }
        host.replan();
        host.await(
                () -> {
                    int count = plugins.snapshot().policies().size();
                    assertTrue(count == 0 || count == 3, () -> count + " of three");
                    return count == 3;
                },
                () -> plugins.status().toString());
    }

    @Test
    void anUpdateTakesTheOldOnesPlaceAndOneThatDoesNotStartLeavesIt() throws Exception {
        host.jar("etc/plugins/p.jar", "p", Denying.class, policies("p"));
        host.plan("p", BY_KIND, Map.of("reason", "one"));
        start();
        version("2.0.0", Denying.class);
        host.await(
                () -> state("p").version().equals("2.0.0"),
                () -> plugins.status().toString());
        version("3.0.0", Failing.class);
        host.awaitLog("ERROR plugin_update_failed: plugins.toml:1:1: plugin \"p\" (");
        // The list follows the log.
        host.await(
                () -> state("p").reason().endsWith("; version 2.0.0 goes on with the configuration that it has"),
                () -> plugins.status().toString());
        assertEquals("2.0.0", state("p").version());
        assertEquals(State.ACTIVE, state("p").state());
        assertEquals(Optional.of("one"), reason());
        version("4.0.0", Denying.class);
        host.await(
                () -> state("p").version().equals("4.0.0"),
                () -> plugins.status().toString());
        assertEquals("", state("p").reason());
    }

    /** B31: what lies in the folder counts, whatever name and version it repeats. */
    @Test
    void anotherFileOfTheSameVersionTakesTheOldOnesPlace() throws Exception {
        host.jar("etc/plugins/p.jar", "p", Denying.class, policies("p"));
        host.plan("p", BY_KIND, Map.of("reason", "one"));
        start();
        awaitReason("one");
        Path next = host.jar(
                "next.jar",
                "p",
                DenyingLoudly.class,
                policies("p", "Bundle-SymbolicName", bundles().getFirst().getSymbolicName()));
        Files.move(next, host.home.resolve("etc/plugins/p.jar"), StandardCopyOption.REPLACE_EXISTING);
        awaitReason("ONE");
        assertEquals("1.2.3", state("p").version());
    }

    /** B2: a plugin for whose sake requests are held is named. */
    @Test
    void whoReadsBodiesIsNamed() throws Exception {
        host.jar("etc/plugins/p.jar", "p", Reading.class, policies("p"));
        host.jar("etc/plugins/q.jar", "q", Passing.class, policies("q"));
        host.plan("p", BY_KIND, Map.of()).plan("q", BY_KIND, Map.of());
        start();
        assertEquals(2, plugins.snapshot().stages().intercepts().size());
        String holds = "reads the bodies of requests or may send them again, so each is held until all of it is here";
        assertEquals(
                List.of("INFO plugin_holds_requests: plugin p " + holds),
                host.log.stream().filter(line -> line.contains("plugin_holds")).toList());
        assertEquals(holds, state("p").reason());
        assertEquals(PluginStatus.State.ACTIVE, state("p").state());
        assertEquals("", state("q").reason());
    }

    @Test
    void aHalfCopiedJarIsNeverLoaded() throws Exception {
        Path jar = host.jar("etc/plugins/p.jar", "p", Denying.class, policies("p"));
        byte[] whole = Files.readAllBytes(jar);
        Files.delete(jar);
        host.plan("p", Optional.of(false), Map.of("reason", "one"));
        start();
        Files.write(jar, Arrays.copyOf(whole, whole.length / 2));
        Files.setPosixFilePermissions(jar, PosixFilePermissions.fromString("rw-r--r--"));
        host.awaitLog("ERROR plugin_quarantined: plugin file " + jar + " is not a whole jar (");
        Files.write(jar, whole);
        awaitReason("one");
        // And the running version does not mind a half-copied successor.
        Files.write(jar, Arrays.copyOf(whole, whole.length / 3));
        host.awaitLog("ERROR plugin_update_failed: plugins.toml:1:1: plugin \"p\": plugin file " + jar
                + " is not a whole jar (");
        assertEquals(Optional.of("one"), reason());
        Files.write(jar, whole);
        host.await(() -> state("p").reason().isEmpty(), () -> plugins.status().toString());
    }

    @Test
    void whatARequestMayUseStaysUntilItEnds() throws Exception {
        host.jar("etc/plugins/p.jar", "p", Denying.class, policies("p"));
        host.plan("p", BY_KIND, Map.of("reason", "one"));
        start();
        PluginHost.Use use = plugins.enter();
        var snapshot = plugins.snapshot();
        host.noPlan().replan();
        host.await(
                () -> plugins.snapshot().policies().isEmpty(),
                () -> plugins.status().toString());
        assertEquals(
                Optional.of("one"),
                snapshot.rule(call()).get(30, TimeUnit.SECONDS).denial());
        assertTrue(bundles().stream().anyMatch(bundle -> bundle.getState() == Bundle.ACTIVE));
        use.close();
        host.await(
                () -> bundles().stream().noneMatch(bundle -> bundle.getState() == Bundle.ACTIVE),
                () -> bundles().toString());
    }

    @Test
    void removingOneRestartsNoOther() throws Exception {
        Path starts = folder.resolve("starts");
        // Both use a package of a third one, which is optional for them.
        host.jar("etc/plugins/common.jar", "s", Denying.class, Map.of("Export-Package", "common"));
        Path jar = host.jar(
                "etc/plugins/p.jar",
                "p",
                Denying.class,
                policies(
                        "p",
                        "Import-Package",
                        "org.nemorelay.plugin.api,org.nemorelay.json,common;resolution:=optional"));
        host.jar(
                "etc/plugins/q.jar",
                "q",
                Counting.class,
                Map.of(
                        "Provide-Capability",
                        "org.nemorelay.plugin;kind=q",
                        "Import-Package",
                        "org.nemorelay.plugin.api,org.nemorelay.json,common;resolution:=optional,shared;resolution:=optional"));
        host.plan("p", Optional.of(false), Map.of("reason", "one"))
                .plan("q", BY_KIND, Map.of("file", starts.toString()));
        start();
        // What would satisfy the optional import comes, the first plugin goes.
        host.jar("etc/plugins/shared.jar", "r", Denying.class, Map.of("Export-Package", "shared"));
        Files.delete(jar);
        host.await(
                () -> state("p").state() == State.QUARANTINED,
                () -> plugins.status().toString());
        host.await(
                () -> state("r").state() == State.IDLE, () -> plugins.status().toString());
        assertEquals(List.of("start"), Files.readAllLines(starts));
    }

    @Test
    void aPolicyThatEndsByItselfIsNamedAndDenies() throws Exception {
        host.jar("etc/plugins/p.jar", "p", Denying.class, policies("p"));
        host.plan("p", BY_KIND, Map.of("reason", "one"));
        start();
        Bundle bundle = bundles().getFirst();
        bundle.stop();
        host.awaitLog("ERROR plugin_ended: " + host.home + "/etc/plugins/p.jar: plugin \"p\" has ended by itself");
        host.await(
                () -> state("p").state() == State.QUARANTINED,
                () -> plugins.status().toString());
        assertEquals(Optional.of("the policy plugin \"p\" is about to stop, so this tool call is denied"), reason());
        bundle.start();
        awaitReason("one");
        host.await(
                () -> state("p").state() == State.ACTIVE, () -> plugins.status().toString());
    }

    @Test
    void aJarThatIsTakenAwayServesOnWhileARequiredComponentNamesIt() throws Exception {
        Path jar = host.jar("etc/plugins/p.jar", "p", Denying.class, policies("p"));
        host.plan("p", BY_KIND, Map.of("reason", "one"));
        start();
        Files.delete(jar);
        host.await(() -> !state("p").reason().isEmpty(), () -> plugins.status().toString());
        assertEquals(State.ACTIVE, state("p").state());
        assertEquals(Optional.of("one"), reason());
        host.noPlan().replan();
        host.await(() -> plugins.status().isEmpty(), () -> plugins.status().toString());
        assertEquals(Optional.empty(), reason());
    }

    @Test
    void theOldFileDoesNotServeUnderAPinThatItLacks() throws Exception {
        Path jar = host.jar("etc/plugins/p.jar", "p", Denying.class, policies("p"));
        host.pin("0".repeat(64)).plan("p", BY_KIND, Map.of("reason", "one")).start();
        String line = host.failure().orElseThrow();
        assertTrue(
                line.startsWith("plugins.toml:1:1: plugin \"p\": " + jar + " has the SHA-256 ")
                        && line.endsWith(", not the one that is pinned: put the pinned file there or change sha256"),
                line);
    }

    private void version(String version, Class<?> component) throws Exception {
        Path next = host.jar("next.jar", "p", component, policies("p", "Bundle-Version", version));
        Files.move(next, host.home.resolve("etc/plugins/p.jar"), StandardCopyOption.REPLACE_EXISTING);
    }

    /** Asks for bodies. */
    public static final class Reading implements RequestIntercept {
        public Reading(Map<String, Object> properties) {}

        @Override
        public CompletionStage<ModelRequest> rewrite(ModelRequest request) {
            return CompletableFuture.completedStage(request);
        }

        @Override
        public boolean needsBody() {
            return true;
        }
    }

    /** Asks for none. */
    public static final class Passing implements RequestIntercept {
        public Passing(Map<String, Object> properties) {}

        @Override
        public CompletionStage<ModelRequest> rewrite(ModelRequest request) {
            return CompletableFuture.completedStage(request);
        }
    }

    /** Writes down each start. */
    public static final class Counting extends Allowing {
        public Counting(Map<String, Object> properties) throws Exception {
            Files.writeString(
                    Path.of(PluginConfig.of(properties).string("file")),
                    "start\n",
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        }
    }
}
