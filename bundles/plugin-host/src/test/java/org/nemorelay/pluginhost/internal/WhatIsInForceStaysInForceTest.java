package org.nemorelay.pluginhost.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.pluginhost.PluginStatus;
import org.nemorelay.pluginhost.PluginStatus.State;
import org.nemorelay.pluginhost.internal.MadeUpPlugins.Blocking;
import org.nemorelay.pluginhost.internal.MadeUpPlugins.Denying;
import org.nemorelay.pluginhost.internal.MadeUpPlugins.DenyingLoudly;
import org.nemorelay.pluginhost.internal.MadeUpPlugins.Failing;
import org.nemorelay.pluginhost.internal.MadeUpPlugins.Waiting;

/** However its jars come and go, a required plugin that was in force is, until another version of it is. */
class WhatIsInForceStaysInForceTest extends WithHost {
    private static final String GOES_ON = "; version 1.2.3 goes on with the configuration that it has";

    @Test
    void theNewJarLacksItsClassAndTheOldOneIsRemovedWithIt() throws Exception {
        begin(BY_KIND);
        Path next = next(Denying.class, Map.of());
        withoutClasses(next);
        come(next);
        go();
        staysBecause("which is not in the jar; build it again");
        // Another change tries and tells nothing again.
        host.jar("etc/plugins/idle.jar", "idle", Denying.class, policies("idle"));
        staysUntil(() -> state("idle").file().endsWith("idle.jar"));
        staysBecause("which is not in the jar; build it again");
        aGoodOneTakesItsPlace();
    }

    @Test
    void theNewJarLacksItsActivator() throws Exception {
        begin(BY_KIND);
        come(next(Denying.class, Map.of("Bundle-Activator", "no.such.Activator")));
        go();
        staysBecause("no.such.Activator");
        aGoodOneTakesItsPlace();
    }

    @Test
    void theNewJarComesFirstAndTheOldOneGoesLater() throws Exception {
        begin(BY_KIND);
        come(next(Failing.class, Map.of()));
        staysUntil(() -> state("p").reason().endsWith(", remove one of them" + GOES_ON));
        go();
        staysBecause("does not start: java.lang.IllegalStateException: not this one");
        aGoodOneTakesItsPlace();
    }

    @Test
    void theOldJarGoesFirst() throws Exception {
        begin(BY_KIND);
        go();
        staysUntil(() -> state("p").reason().endsWith("put one there or remove the component" + GOES_ON));
        come(next(Failing.class, Map.of()));
        staysBecause("does not start: java.lang.IllegalStateException: not this one");
        aGoodOneTakesItsPlace();
    }

    @Tag("long")
    @Test
    void theNewOneBlocks() throws Exception {
        begin(BY_KIND);
        come(next(Blocking.class, Map.of()));
        go();
        staysBecause("is not active after 3 s and is abandoned");
        // Another change does not try it again, and tells nothing again.
        host.jar("etc/plugins/idle.jar", "idle", Denying.class, policies("idle"));
        staysUntil(() -> state("idle").file().endsWith("idle.jar"));
        staysBecause("is not active after 3 s and is abandoned");
        aGoodOneTakesItsPlace();
    }

    @Test
    void theNewJarIsNotThePinnedOne() throws Exception {
        Path old = jar("etc/plugins/team-1.0.jar", Denying.class, Map.of());
        host.pin(JarCheck.copy(old, folder.resolve("copy")));
        begin(BY_KIND);
        come(next(DenyingLoudly.class, Map.of()));
        go();
        staysBecause("not the one that is pinned: put the pinned file there or change sha256");
        host.pin(JarCheck.copy(host.home.resolve("etc/plugins/team-1.1.jar"), folder.resolve("copy of the next")));
        host.noPlan().plan("p", BY_KIND, Map.of("reason", "one")).replan();
        staysUntil("ONE");
    }

    @Test
    void theNewJarIsRefused() throws Exception {
        begin(BY_KIND);
        Path next = next(DenyingLoudly.class, Map.of());
        Files.setPosixFilePermissions(next, PosixFilePermissions.fromString("rw-rw-rw-"));
        come(next);
        go();
        staysBecause("provides the plugin kind \"p\", put one there or remove the component");
        aGoodOneTakesItsPlace();
    }

    /** Whether it is required or not: a folder that cannot be trusted is no plugin taken away. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void itsFolderIsOpenToOthersForAWhile(boolean required) throws Exception {
        begin(Optional.of(required));
        Path plugins = host.home.resolve("etc/plugins");
        Files.setPosixFilePermissions(plugins, PosixFilePermissions.fromString("rwxrwxrwx"));
        staysBecause("plugin file " + plugins + " can be written by group or others, run chmod go-w " + plugins);
        Files.setPosixFilePermissions(plugins, PosixFilePermissions.fromString("rwxr-xr-x"));
        staysUntil(() -> state("p").reason().isEmpty());
        assertEquals(Optional.of("one"), reason());
    }

    @Test
    void anOptionalOneWhoseFolderIsGoneSaysSo() throws Exception {
        begin(Optional.of(false));
        Path plugins = host.home.resolve("etc/plugins");
        Files.move(plugins, host.home.resolve("etc/elsewhere"));
        host.await(() -> reasons().isEmpty(), () -> this.plugins.status().toString());
        assertEquals(State.QUARANTINED, state("p").state());
        assertTrue(
                state("p")
                        .reason()
                        .endsWith("provides the plugin kind \"p\"; " + plugins
                                + " is not there, put one there or remove the component"),
                state("p")::reason);
    }

    @Test
    void theNewJarNeedsWhatIsNotThere() throws Exception {
        begin(BY_KIND);
        come(next(DenyingLoudly.class, Map.of("Import-Package", "not.there")));
        go();
        staysBecause("needs the package not.there");
        aGoodOneTakesItsPlace();
    }

    @Test
    void twoJarsChangePlaces() throws Exception {
        Path one = jar("etc/plugins/team-1.0.jar", Denying.class, Map.of());
        Path other = host.jar("etc/plugins/q.jar", "q", Denying.class, policies("q"));
        host.plan("q", BY_KIND, Map.of("reason", "q"));
        begin(BY_KIND);
        Path bad = next(Failing.class, Map.of());
        Path good = host.jar("good.jar", "q", DenyingLoudly.class, policies("q"));
        Files.move(bad, other, StandardCopyOption.REPLACE_EXISTING);
        Files.move(good, one, StandardCopyOption.REPLACE_EXISTING);
        // q has moved, p could not: two plugins of one file serve beside each other.
        staysUntil(() -> reasons().equals(List.of("Q", "one")));
        staysBecause("not this one");
        aGoodOneTakesItsPlace();
        assertEquals(List.of("ONE", "Q"), reasons());
    }

    @Test
    void aJarOfTwoIsDividedAndOneHalfIsBroken() throws Exception {
        Path both = two("both.jar", Denying.class, Denying.class);
        host.plan("p", BY_KIND, Map.of("reason", "one")).plan("q", BY_KIND, Map.of("reason", "q"));
        start();
        Path p = next(Failing.class, Map.of());
        Path q = host.jar("good.jar", "q", DenyingLoudly.class, policies("q"));
        come(p);
        Files.move(q, host.home.resolve("etc/plugins/q.jar"));
        Files.delete(both);
        staysBecause("not this one");
        assertEquals(List.of("one", "q"), reasons());
        assertEquals(
                "plugins.toml:11:1: plugin \"q\" (" + host.home
                        + "/etc/plugins/q.jar) waits, because another plugin of " + both
                        + ", the file it was in, has to go on; correct that one" + GOES_ON,
                state("q").reason());
        Files.move(
                jar("good.jar", DenyingLoudly.class, Map.of()),
                host.home.resolve("etc/plugins/team-1.1.jar"),
                StandardCopyOption.REPLACE_EXISTING);
        staysUntil(() -> reasons().equals(List.of("ONE", "Q")));
    }

    @Test
    void ofAJarOfTwoTheOneThatRunsIsNamed() throws Exception {
        Path both = two("both.jar", Denying.class, Denying.class);
        start();
        host.plan("p", BY_KIND, Map.of("reason", "one")).replan();
        host.awaitLog("INFO plugin_started: plugin p 1.2.3 of " + both + " is active");
        host.noPlan().replan();
        host.awaitLog("INFO plugin_removed: plugin p 1.2.3 of " + both + " takes no more requests");
    }

    @Test
    void halfOfAJarOfTwoIsTakenAway() throws Exception {
        Path both = two("both.jar", Denying.class, Denying.class);
        host.plan("p", BY_KIND, Map.of("reason", "one")).plan("q", BY_KIND, Map.of("reason", "q"));
        start();
        come(next(DenyingLoudly.class, Map.of()));
        Files.delete(both);
        staysUntil(() -> state("q").reason().contains("no bundle in ")
                && state("p").reason().contains("waits, because another plugin of " + both));
        assertEquals(List.of("one", "q"), reasons());
        Files.move(
                host.jar("good.jar", "q", DenyingLoudly.class, policies("q")), host.home.resolve("etc/plugins/q.jar"));
        staysUntil(() -> reasons().equals(List.of("ONE", "Q")));
    }

    @Test
    void twoJarsBecomeOneWhoseSecondPluginIsBroken() throws Exception {
        Path q = host.jar("etc/plugins/q.jar", "q", Denying.class, policies("q"));
        host.plan("q", BY_KIND, Map.of("reason", "q"));
        begin(BY_KIND);
        two("both.jar", DenyingLoudly.class, Failing.class);
        Files.delete(q);
        go();
        staysUntil(() -> state("q").reason().contains("not this one"));
        assertEquals(List.of("one", "q"), reasons());
        assertTrue(
                state("p").reason().contains("does not run because plugin \"q\" of the same file"), state("p")::reason);
    }

    /** The same for one that may be missing: it ends when its jar goes, not because of a version that does not start. */
    @Test
    void anOptionalOneGoesOnBesideABrokenVersionAndGoesWithItsJar() throws Exception {
        begin(Optional.of(false));
        Path bad = next(Failing.class, Map.of());
        come(bad);
        go();
        staysBecause("not this one");
        Files.delete(host.home.resolve("etc/plugins/team-1.1.jar"));
        host.await(() -> reasons().isEmpty(), () -> plugins.status().toString());
        assertEquals(State.QUARANTINED, state("p").state());
    }

    /** All of a jar or nothing: what is optional in it is waited for where the rest must run. */
    @Test
    void aStartWaitsForTheOptionalHalfOfARequiredJar() throws Exception {
        Path both = two("both.jar", Denying.class, DenyingLoudly.class);
        try (FileSystem content = FileSystems.newFileSystem(both)) {
            Path q = content.getPath("OSGI-INF/q.xml");
            Files.writeString(
                    q,
                    Files.readString(q)
                            .replace(
                                    "<implementation",
                                    "<reference name=\"r\" interface=\"java.lang.Runnable\"/><implementation"));
        }
        Files.setPosixFilePermissions(both, PosixFilePermissions.fromString("rw-r--r--"));
        host.plan("p", Optional.of(true), Map.of("reason", "one")).plan("q", Optional.of(false), Map.of("reason", "q"));
        host.slowAfter(4_000);
        plugins = host.start();
        host.await(
                () -> {
                    assertTrue(!plugins.ready().toCompletableFuture().isDone(), "ready without p");
                    return host.log.stream().anyMatch(line -> line.startsWith("WARN plugin_slow: plugin q is not "));
                },
                host.log::toString);
        host.context().registerService(Runnable.class, () -> {}, null);
        assertEquals(Optional.empty(), host.failure());
        assertEquals(List.of("Q", "one"), reasons());
    }

    /** What the start did not wait for does not come back over what has taken its place meanwhile. */
    @Test
    void aLateOneThatWasReplacedStaysOut() throws Exception {
        host.jar("etc/plugins/team-1.0.jar", "p", Waiting.class, policies("p"));
        host.plan("p", Optional.of(false), Map.of("reason", "one", "file", release.toString()));
        start();
        come(next(Denying.class, Map.of()));
        go();
        host.await(
                () -> reasons().equals(List.of("one")), () -> plugins.status().toString());
        Files.createFile(release);
        staysUntil(() -> Arrays.stream(host.context().getBundles())
                .noneMatch(bundle -> bundle.getSymbolicName().startsWith("etc.plugins.team")));
        assertEquals(List.of("one"), reasons());
    }

    private void begin(Optional<Boolean> required) throws Exception {
        if (!Files.exists(host.home.resolve("etc/plugins/team-1.0.jar"))) {
            jar("etc/plugins/team-1.0.jar", Denying.class, Map.of());
        }
        host.plan("p", required, Map.of("reason", "one"));
        start();
        assertEquals(Optional.of("one"), reason());
    }

    private Path next(Class<?> component, Map<String, String> headers) throws Exception {
        return jar("next.jar", component, headers);
    }

    private Path jar(String path, Class<?> component, Map<String, String> headers) throws Exception {
        Map<String, String> all = new HashMap<>(policies("p"));
        all.putAll(headers);
        return host.jar(path, "p", component, all);
    }

    private Path two(String name, Class<?> p, Class<?> q) throws Exception {
        Map<String, String> capabilities = Map.of(
                "Provide-Capability",
                policies("p").get("Provide-Capability") + "," + policies("q").get("Provide-Capability"));
        Path jar = host.jar(name, Map.of("p", p, "q", q), capabilities);
        return Files.move(jar, host.home.resolve("etc/plugins").resolve(name));
    }

    private void come(Path jar) throws Exception {
        Files.move(jar, host.home.resolve("etc/plugins/team-1.1.jar"));
    }

    private void go() throws Exception {
        Files.delete(host.home.resolve("etc/plugins/team-1.0.jar"));
    }

    private static void withoutClasses(Path jar) throws Exception {
        try (FileSystem content = FileSystems.newFileSystem(jar);
                var all = Files.walk(content.getPath("/"))) {
            for (Path one :
                    all.filter(path -> path.toString().endsWith(".class")).toList()) {
                Files.delete(one);
            }
        }
        Files.setPosixFilePermissions(jar, PosixFilePermissions.fromString("rw-r--r--"));
    }

    /** It serves on, is listed as what serves, with the reason why nothing newer does, and the log says so once. */
    private void staysBecause(String reason) throws Exception {
        staysUntil(() -> state("p").reason().contains(reason));
        PluginStatus state = state("p");
        assertEquals(State.ACTIVE, state.state());
        assertEquals("1.2.3", state.version());
        assertTrue(state.reason().endsWith(GOES_ON), state::reason);
        assertEquals(
                List.of("ERROR plugin_update_failed: " + state.reason()),
                host.log.stream()
                        .filter(line -> line.contains(" plugin_update_failed: ") && line.contains(reason))
                        .filter(line -> line.contains("plugin \"p\"") || line.contains("kind \"p\""))
                        .toList());
    }

    private void aGoodOneTakesItsPlace() throws Exception {
        Path good = jar("good.jar", DenyingLoudly.class, Map.of("Bundle-Version", "2.0.0"));
        for (String broken : List.of("team-1.1.jar", "q.jar")) {
            Files.deleteIfExists(host.home.resolve("etc/plugins").resolve(broken));
        }
        Files.move(good, host.home.resolve("etc/plugins/team-2.0.jar"));
        staysUntil("ONE");
        host.await(
                () -> state("p").version().equals("2.0.0"),
                () -> plugins.status().toString());
        assertEquals("", state("p").reason());
    }

    private void staysUntil(String reason) throws Exception {
        staysUntil(() -> reasons().contains(reason));
    }

    /** No call passes by the policy meanwhile. */
    private void staysUntil(BooleanSupplier condition) throws Exception {
        host.await(
                () -> {
                    assertTrue(reason().isPresent(), () -> "off: " + plugins.status() + host.log);
                    return condition.getAsBoolean();
                },
                () -> plugins.status() + " " + host.log);
    }
}
