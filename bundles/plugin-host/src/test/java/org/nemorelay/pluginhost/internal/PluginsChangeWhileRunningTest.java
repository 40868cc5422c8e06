package org.nemorelay.pluginhost.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Timer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.management.JMException;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.json.JsonObject;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.api.PluginConfigException;
import org.nemorelay.plugin.api.RequestIntercept;
import org.nemorelay.plugin.api.ToolCall;
import org.nemorelay.pluginhost.PluginHost;
import org.nemorelay.pluginhost.PluginStatus;
import org.nemorelay.pluginhost.PluginStatus.State;
import org.nemorelay.pluginhost.PolicyGate;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.wiring.BundleWiring;

class PluginsChangeWhileRunningTest {
    private static final Optional<Boolean> BY_KIND = Optional.empty();
    private static final Map<String, String> POLICY =
            Map.of("Provide-Capability", "org.nemorelay.plugin;kind=p;observer=false");

    @TempDir
    private Path folder;

    private HostUnderTest host;
    private PluginHostComponent plugins;

    @BeforeEach
    void open() throws Exception {
        host = new HostUnderTest(folder);
    }

    @AfterEach
    void close() throws Exception {
        host.close();
    }

    @Test
    void aPluginThatIsDroppedInAndThenNamedRuns() throws Exception {
        begin();
        host.jar("etc/plugins/p.jar", "p", Denying.class, POLICY);
        host.plan("p", BY_KIND, Map.of("reason", "one")).replan();
        awaitReason("one");
        assertEquals(State.ACTIVE, state("p").state());
    }

    @Test
    void aPluginThatIsNamedBeforeItIsThereRunsOnceItIs() throws Exception {
        begin();
        host.plan("p", BY_KIND, Map.of("reason", "one")).replan();
        host.awaitLog("ERROR plugins_rejected: plugins.toml:1:1: no bundle in ");
        host.jar("etc/plugins/p.jar", "p", Denying.class, POLICY);
        awaitReason("one");
    }

    @Test
    void anotherConfigurationTakesEffectAndABadOneChangesNothing() throws Exception {
        host.jar("etc/plugins/p.jar", "p", Denying.class, POLICY);
        host.plan("p", BY_KIND, Map.of("reason", "one"));
        begin();
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
        host.noPlan().plan("p", BY_KIND, Map.of("reason", "three")).replan();
        awaitReason("three");
        host.await(() -> state("p").reason().isEmpty(), () -> state("p") + " " + host.log);
    }

    @Test
    void oneBadComponentKeepsAllOfTheFileOut() throws Exception {
        host.jar("etc/plugins/p.jar", "p", Denying.class, POLICY);
        host.jar(
                "etc/plugins/q.jar",
                "q",
                Denying.class,
                Map.of("Provide-Capability", "org.nemorelay.plugin;kind=q;observer=false"));
        host.plan("p", BY_KIND, Map.of("reason", "one"));
        begin();
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
        host.jar("etc/plugins/p.jar", "p", Denying.class, POLICY);
        host.plan("p", BY_KIND, Map.of("reason", "one"));
        begin();
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
        host.jar("etc/plugins/p.jar", "p", Denying.class, POLICY);
        host.plan("nope", Optional.of(false), Map.of()).plan("p", BY_KIND, Map.of("reason", "one"));
        begin();
        host.noPlan()
                .plan("nope", Optional.of(false), Map.of())
                .plan("p", BY_KIND, Map.of("reason", "two"))
                .replan();
        awaitReason("two");
    }

    @Test
    void severalChangesBecomeOneSnapshot() throws Exception {
        begin();
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
        host.jar("etc/plugins/p.jar", "p", Denying.class, POLICY);
        host.plan("p", BY_KIND, Map.of("reason", "one"));
        begin();
        version("2.0.0", Denying.class);
        host.await(
                () -> state("p").version().equals("2.0.0"),
                () -> plugins.status().toString());
        version("3.0.0", Failing.class);
        host.awaitLog("ERROR plugin_update_failed: plugins.toml:1:1: plugin \"p\" (");
        assertEquals("2.0.0", state("p").version());
        assertEquals(State.ACTIVE, state("p").state());
        assertTrue(state("p").reason().endsWith("; version 2.0.0 goes on with the configuration that it has"));
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
        host.jar("etc/plugins/p.jar", "p", Denying.class, POLICY);
        host.plan("p", BY_KIND, Map.of("reason", "one"));
        begin();
        awaitReason("one");
        Path next = host.jar(
                "next.jar",
                "p",
                DenyingLoudly.class,
                Map.of(
                        "Provide-Capability",
                        "org.nemorelay.plugin;kind=p;observer=false",
                        "Bundle-SymbolicName",
                        bundles().getFirst().getSymbolicName()));
        Files.move(next, host.home.resolve("etc/plugins/p.jar"), StandardCopyOption.REPLACE_EXISTING);
        awaitReason("ONE");
        assertEquals("1.2.3", state("p").version());
    }

    /** B2: a plugin for whose sake requests are held is named. */
    @Test
    void whoReadsBodiesIsNamed() throws Exception {
        host.jar("etc/plugins/p.jar", "p", Reading.class, POLICY);
        host.jar(
                "etc/plugins/q.jar",
                "q",
                Passing.class,
                Map.of("Provide-Capability", "org.nemorelay.plugin;kind=q;observer=false"));
        host.plan("p", BY_KIND, Map.of()).plan("q", BY_KIND, Map.of());
        begin();
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
        Path jar = host.jar("etc/plugins/p.jar", "p", Denying.class, POLICY);
        byte[] whole = Files.readAllBytes(jar);
        Files.delete(jar);
        host.plan("p", Optional.of(false), Map.of("reason", "one"));
        begin();
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
        host.jar("etc/plugins/p.jar", "p", Denying.class, POLICY);
        host.plan("p", BY_KIND, Map.of("reason", "one"));
        begin();
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
                Map.of(
                        "Provide-Capability",
                        "org.nemorelay.plugin;kind=p;observer=false",
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
        begin();
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
        host.jar("etc/plugins/p.jar", "p", Denying.class, POLICY);
        host.plan("p", BY_KIND, Map.of("reason", "one"));
        begin();
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
        Path jar = host.jar("etc/plugins/p.jar", "p", Denying.class, POLICY);
        host.plan("p", BY_KIND, Map.of("reason", "one"));
        begin();
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
        Path jar = host.jar("etc/plugins/p.jar", "p", Denying.class, POLICY);
        host.pin("0".repeat(64)).plan("p", BY_KIND, Map.of("reason", "one")).start();
        String line = host.failure().orElseThrow();
        assertTrue(
                line.startsWith("plugins.toml:1:1: plugin \"p\": " + jar + " has the SHA-256 ")
                        && line.endsWith(", not the one that is pinned: put the pinned file there or change sha256"),
                line);
    }

    /** B34: the plugin uses what class loaders hang on, and gives it back; the later rounds leave no classes either. */
    @Test
    void fiftyRoundsLeaveAtMostOneOldClassLoader() throws Exception {
        begin();
        host.jar(
                "etc/plugins/p.jar",
                "p",
                Tidy.class,
                Map.of(
                        "Provide-Capability",
                        "org.nemorelay.plugin;kind=p;observer=false",
                        "Import-Package",
                        "org.nemorelay.plugin.api,org.nemorelay.json,javax.management"));
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        int loadedHalfWay = 0;
        for (int i = 0; i < 50; i++) {
            if (i == 25) {
                awaitCollected(loaders);
                loadedHalfWay = ManagementFactory.getClassLoadingMXBean().getLoadedClassCount();
            }
            host.noPlan().plan("p", BY_KIND, Map.of("reason", "round " + i)).replan();
            awaitReason("round " + i);
            bundles().stream()
                    .filter(bundle -> bundle.getState() == Bundle.ACTIVE)
                    .forEach(bundle -> loaders.add(
                            new WeakReference<>(bundle.adapt(BundleWiring.class).getClassLoader())));
            host.noPlan().replan();
            host.await(
                    () -> plugins.snapshot().policies().isEmpty(),
                    () -> plugins.status().toString());
        }
        assertTrue(loaders.size() >= 50, () -> loaders.size() + " generations were seen");
        awaitCollected(loaders);
        int most = loadedHalfWay + 40;
        host.await(
                () -> {
                    System.gc();
                    return ManagementFactory.getClassLoadingMXBean().getLoadedClassCount() <= most;
                },
                () -> ManagementFactory.getClassLoadingMXBean().getLoadedClassCount() + " classes after fifty rounds, "
                        + most + " at most after 25");
        assertTrue(host.log.stream().noneMatch(line -> line.contains("plugin_abandoned")), host.log::toString);
    }

    @Test
    void aPluginThatBlocksInAChangeIsAbandonedAndNamed() throws Exception {
        begin();
        host.jar("etc/plugins/p.jar", "p", Blocking.class, POLICY);
        host.plan("p", Optional.of(false), Map.of("reason", "one")).replan();
        host.awaitLog("ERROR plugins_rejected: plugins.toml:1:1: plugin \"p\" (" + host.home
                + "/etc/plugins/p.jar) is not active after 3 s and is abandoned");
        // Others come and go.
        host.jar(
                "etc/plugins/q.jar",
                "q",
                Denying.class,
                Map.of("Provide-Capability", "org.nemorelay.plugin;kind=q;observer=false"));
        host.noPlan().plan("q", BY_KIND, Map.of("reason", "two")).replan();
        awaitReason("two");
    }

    @Test
    void threadsThatAreLeftBehindAreNamed() throws Exception {
        begin();
        host.jar("etc/plugins/p.jar", "p", Leaving.class, POLICY);
        host.plan("p", Optional.of(false), Map.of()).replan();
        host.await(
                () -> plugins.snapshot().policies().size() == 1,
                () -> plugins.status().toString());
        host.noPlan().replan();
        host.awaitLog("ERROR plugin_abandoned: plugin p 1.2.3 of " + host.home
                + "/etc/plugins/p.jar is removed and has left threads behind, which keep its classes in memory: left"
                + " over; end them in the plugin's deactivation");
    }

    @Test
    void threadsOfAnActivatorAreNamed() throws Exception {
        begin();
        host.jar(
                "etc/plugins/p.jar",
                "p",
                LeavingActivator.class,
                Map.of(
                        "Provide-Capability",
                        "org.nemorelay.plugin;kind=p;observer=false",
                        "Import-Package",
                        "org.nemorelay.plugin.api,org.osgi.framework",
                        "Bundle-Activator",
                        LeavingActivator.class.getName()));
        host.plan("p", Optional.of(false), Map.of()).replan();
        host.await(
                () -> plugins.snapshot().policies().size() == 1,
                () -> plugins.status().toString());
        host.noPlan().replan();
        host.awaitLog("ERROR plugin_abandoned: plugin p 1.2.3 of " + host.home
                + "/etc/plugins/p.jar is removed and has left threads behind, which keep its classes in memory: of the"
                + " activator; end them in the plugin's deactivation");
    }

    @Test
    void aClassLoaderThatIsKeptIsNamed() throws Exception {
        host.stopWithin(60_000);
        begin();
        host.jar("etc/plugins/p.jar", "p", Hooking.class, POLICY);
        host.plan("p", Optional.of(false), Map.of()).replan();
        host.await(
                () -> plugins.snapshot().policies().size() == 1,
                () -> plugins.status().toString());
        host.noPlan().replan();
        // Collecting begins when it has stopped, for which it has a limited time.
        host.await(
                () -> plugins.status().stream().noneMatch(one -> one.state() == State.ACTIVE),
                () -> plugins.status().toString());
        String line = "ERROR plugin_abandoned: plugin p 1.2.3 of " + host.home
                + "/etc/plugins/p.jar is removed, but something keeps its classes in memory, such as a shutdown hook, an"
                + " MBean, a log handler or a thread-local of a thread that is not its own; give that back in the plugin's"
                + " deactivation";
        host.await(
                () -> {
                    System.gc();
                    return host.log.contains(line);
                },
                () -> line + " not in " + host.log);
        assertTrue(
                plugins.status().stream().anyMatch(one -> one.file().endsWith("p.jar") && line.endsWith(one.reason())),
                plugins.status()::toString);
    }

    @Test
    void callsThatDoNotComeBackAreInTheStatusUntilTheyDo() throws Exception {
        Path release = folder.resolve("release");
        host.jar("etc/plugins/p.jar", "p", Stuck.class, POLICY);
        host.plan("p", BY_KIND, Map.of("file", release.toString()));
        begin();
        assertEquals(State.ACTIVE, state("p").state());
        assertEquals("", state("p").reason());
        PolicyGate gate = plugins.snapshot().policies().getFirst();
        assertTrue(gate.judge(call(), 50).join().denial().isPresent());
        awaitReason(
                "p",
                "1 call has not come back in time; each keeps one of the 8 threads of its service; correct the plugin");
        for (int i = 1; i < 8; i++) {
            assertTrue(gate.judge(call(), 50).join().denial().isPresent());
        }
        awaitReason(
                "p",
                "8 calls have not come back in time; each keeps one of the 8 threads of its service, and one has none left:"
                        + " whatever needs it waits 5 s and fails, which for an answer is after the provider was asked; correct"
                        + " the plugin");
        Files.createFile(release);
        host.await(() -> state("p").reason().isEmpty(), () -> plugins.status().toString());
        assertEquals(State.ACTIVE, state("p").state());
    }

    private void awaitReason(String kind, String reason) throws InterruptedException {
        host.await(
                () -> state(kind).reason().equals(reason),
                () -> plugins.status().toString());
    }

    private void awaitCollected(List<WeakReference<ClassLoader>> loaders) throws InterruptedException {
        host.await(
                () -> {
                    System.gc();
                    return loaders.stream()
                                    .filter(loader -> loader.get() != null)
                                    .count()
                            <= 1;
                },
                () -> "class loaders stay");
    }

    private void begin() {
        plugins = host.start();
        assertEquals(Optional.empty(), host.failure());
    }

    private void version(String version, Class<?> component) throws Exception {
        Path next = host.jar(
                "next.jar",
                "p",
                component,
                Map.of("Provide-Capability", "org.nemorelay.plugin;kind=p;observer=false", "Bundle-Version", version));
        Files.move(next, host.home.resolve("etc/plugins/p.jar"), StandardCopyOption.REPLACE_EXISTING);
    }

    private List<Bundle> bundles() {
        return Arrays.stream(host.context().getBundles())
                .filter(Generation::isPlugin)
                .toList();
    }

    private PluginStatus state(String kind) {
        return plugins.status().stream()
                .filter(one -> one.kind().equals(kind))
                .findFirst()
                .orElse(new PluginStatus(kind, "", State.IDLE, "", "not there"));
    }

    private void awaitReason(String reason) throws InterruptedException {
        host.await(() -> reason().equals(Optional.of(reason)), () -> reason() + " " + plugins.status() + host.log);
    }

    private Optional<String> reason() {
        return plugins.snapshot().rule(call()).join().denial();
    }

    private static ToolCall call() {
        return new ToolCall(
                ToolCall.Agent.CODEX, "PreToolUse", "Bash", Optional.empty(), Map.of(), JsonObject.of(Map.of(), ""));
    }

    /** Denies with the reason that it is configured with. */
    public static final class Denying implements HookPolicy {
        private final String reason;

        public Denying(Map<String, Object> properties) {
            reason = PluginConfig.of(properties).string("reason");
            if (reason.equals("bad")) {
                throw new PluginConfigException("reason", "must not be bad, write another");
            }
        }

        @Override
        public CompletionStage<Decision> decide(ToolCall call) {
            return CompletableFuture.completedStage(Decision.deny(reason));
        }
    }

    /** Denies in capital letters. */
    public static final class DenyingLoudly implements HookPolicy {
        private final String reason;

        public DenyingLoudly(Map<String, Object> properties) {
            reason = PluginConfig.of(properties).string("reason").toUpperCase(Locale.ROOT);
        }

        @Override
        public CompletionStage<Decision> decide(ToolCall call) {
            return CompletableFuture.completedStage(Decision.deny(reason));
        }
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

    /** Does not start. */
    public static final class Failing implements HookPolicy {
        public Failing(Map<String, Object> properties) {
            throw new IllegalStateException("not this one");
        }

        @Override
        public CompletionStage<Decision> decide(ToolCall call) {
            return CompletableFuture.completedStage(Decision.allow());
        }
    }

    /** Writes down each start. */
    public static final class Counting implements HookPolicy {
        public Counting(Map<String, Object> properties) throws Exception {
            Files.writeString(
                    Path.of(PluginConfig.of(properties).string("file")),
                    "start\n",
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        }

        @Override
        public CompletionStage<Decision> decide(ToolCall call) {
            return CompletableFuture.completedStage(Decision.allow());
        }
    }

    /** Never starts, and does not heed an interrupt. */
    public static final class Blocking implements HookPolicy {
        public Blocking(Map<String, Object> properties) {
            while (true) {
                LockSupport.parkNanos(1_000_000_000);
                Thread.interrupted();
            }
        }

        @Override
        public CompletionStage<Decision> decide(ToolCall call) {
            return CompletableFuture.completedStage(Decision.allow());
        }
    }

    /** Uses pool threads, a thread-local, a timer, a shutdown hook and an MBean, and gives all of it back. */
    public static final class Tidy implements HookPolicy, AutoCloseable {
        private final String reason;
        private final ExecutorService pool = Executors.newFixedThreadPool(2);
        private final Timer timer = new Timer("tidy", true);
        private final ThreadLocal<Tidy> local = new ThreadLocal<>();
        private final Thread hook = new Thread(timer::cancel);
        private final ObjectName bean;

        public Tidy(Map<String, Object> properties) throws Exception {
            reason = PluginConfig.of(properties).string("reason");
            Runtime.getRuntime().addShutdownHook(hook);
            Runnable managed = timer::purge;
            bean = new ObjectName("tidy", "reason", ObjectName.quote(reason));
            ManagementFactory.getPlatformMBeanServer()
                    .registerMBean(new StandardMBean(managed, Runnable.class, false), bean);
            pool.submit(() -> local.set(this)).get();
            System.getLogger(Tidy.class.getName()).log(System.Logger.Level.DEBUG, "here");
        }

        @Override
        public CompletionStage<Decision> decide(ToolCall call) {
            return CompletableFuture.supplyAsync(() -> Decision.deny(reason), pool);
        }

        @Override
        public void close() throws JMException {
            ManagementFactory.getPlatformMBeanServer().unregisterMBean(bean);
            Runtime.getRuntime().removeShutdownHook(hook);
            timer.cancel();
            pool.close();
        }
    }

    /** Registers itself as a shutdown hook and stays one; of a group that is not the plugin's, as what a library makes may be. */
    public static final class Hooking extends Thread implements HookPolicy {
        public Hooking(Map<String, Object> properties) {
            super(root(), "hook");
            Runtime.getRuntime().addShutdownHook(this);
        }

        @Override
        public CompletionStage<Decision> decide(ToolCall call) {
            return CompletableFuture.completedStage(Decision.allow());
        }

        private static ThreadGroup root() {
            ThreadGroup group = Thread.currentThread().getThreadGroup();
            while (group.getParent() != null) {
                group = group.getParent();
            }
            return group;
        }
    }

    /** Comes back from no call, whatever happens, before a file is there. */
    public static final class Stuck implements HookPolicy {
        private final Path file;

        public Stuck(Map<String, Object> properties) {
            file = Path.of(PluginConfig.of(properties).string("file"));
        }

        @Override
        public CompletionStage<Decision> decide(ToolCall call) {
            while (!Files.exists(file)) {
                LockSupport.parkNanos(1_000_000);
                Thread.interrupted();
            }
            return CompletableFuture.completedStage(Decision.allow());
        }
    }

    /** Its activator starts a thread, and nothing ends it. */
    public static final class LeavingActivator implements HookPolicy, BundleActivator {
        public LeavingActivator() {}

        public LeavingActivator(Map<String, Object> properties) {}

        @Override
        public void start(BundleContext context) {
            Thread thread = new Thread(
                    () -> {
                        while (true) {
                            LockSupport.parkNanos(1_000_000_000);
                        }
                    },
                    "of the activator");
            thread.setDaemon(true);
            thread.start();
        }

        @Override
        public void stop(BundleContext context) {}

        @Override
        public CompletionStage<Decision> decide(ToolCall call) {
            return CompletableFuture.completedStage(Decision.allow());
        }
    }

    /** Starts a thread and does not end it. */
    public static final class Leaving implements HookPolicy {
        public Leaving(Map<String, Object> properties) {
            Thread thread = new Thread(
                    () -> {
                        while (!Thread.currentThread().isInterrupted()) {
                            LockSupport.parkNanos(1_000_000_000);
                        }
                    },
                    "left over");
            thread.setDaemon(true);
            thread.start();
        }

        @Override
        public CompletionStage<Decision> decide(ToolCall call) {
            return CompletableFuture.completedStage(Decision.allow());
        }
    }
}
