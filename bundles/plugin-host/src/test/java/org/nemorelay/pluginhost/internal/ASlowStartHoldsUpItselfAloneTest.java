package org.nemorelay.pluginhost.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.pluginhost.PluginStatus;
import org.nemorelay.pluginhost.PluginStatus.State;
import org.nemorelay.pluginhost.internal.MadeUpPlugins.Denying;
import org.nemorelay.pluginhost.internal.MadeUpPlugins.Waiting;

/** While one plugin takes its time to become active, other changes come into force, and no policy goes out of force. */
@Timeout(120)
class ASlowStartHoldsUpItselfAloneTest extends WithHost {
    @BeforeEach
    void giveTime() {
        host.changeWithin(60_000);
    }

    @Test
    void laterChangesComeIntoForceMeanwhile() throws Exception {
        policy("p", "one");
        start("one");
        slow("q");
        host.replan();
        awaitState("q", State.STARTING);
        host.noPlan();
        policy("p", "two");
        slow("q");
        host.replan();
        awaitReasons("two");
        host.noPlan();
        policy("p", "two");
        slow("q");
        policy("r", "three");
        host.replan();
        awaitReasons("three", "two");
        assertEquals(State.STARTING, state("q").state());
        // A jar alone.
        host.jar("etc/plugins/idle.jar", "idle", Denying.class, policies("idle"));
        awaitState("idle", State.IDLE, "idle.jar");
        assertEquals(List.of("three", "two"), reasons());
        Files.createFile(release);
        awaitReasons("late", "three", "two");
        assertEquals(State.ACTIVE, state("q").state());
    }

    @Test
    void oneThatIsTakenAwayAgainEndsAtOnce() throws Exception {
        policy("p", "one");
        start("one");
        slow("q");
        host.replan();
        awaitState("q", State.STARTING);
        host.noPlan();
        policy("p", "one");
        host.replan();
        host.awaitLog("INFO plugin_removed: plugin q 1.2.3 of " + host.home
                + "/etc/plugins/q.jar is no longer wanted and ends before it was active");
        host.awaitLog("INFO plugins_changed: plugins.toml is in force");
        awaitState("q", State.IDLE);
        assertEquals(List.of("one"), reasons());
    }

    @Test
    void anUpdateThatTakesItsTimeLeavesTheOldOneInForce() throws Exception {
        policy("p", "one");
        start("one");
        host.jar("etc/plugins/p.jar", "p", Waiting.class, policies("p", "Bundle-Version", "2.0.0"));
        host.noPlan()
                .plan("p", BY_KIND, Map.of("reason", "one", "file", release.toString()))
                .replan();
        String reason = "version 2.0.0 of " + host.home
                + "/etc/plugins/p.jar is starting and takes its place when it is active";
        host.await(
                () -> state("p").reason().equals(reason), () -> plugins.status().toString());
        policy("r", "three");
        host.replan();
        awaitReasons("one", "three");
        assertEquals(
                new PluginStatus("p", "1.2.3", State.ACTIVE, host.home + "/etc/plugins/p.jar", reason), state("p"));
        Files.createFile(release);
        awaitReasons("late", "three");
        assertEquals("2.0.0", state("p").version());
    }

    /** A policy that is no longer named may be what the slow one is meant to replace. */
    @Test
    void aPolicyGoesWhenTheOneInItsPlaceIsThere() throws Exception {
        policy("p", "one");
        start("one");
        slow("q");
        host.replan();
        awaitState("q", State.STARTING);
        host.noPlan();
        slow("q");
        policy("r", "three");
        host.replan();
        awaitReasons("one", "three");
        String line = "plugin \"p\" (" + host.home
                + "/etc/plugins/p.jar) goes on, though plugins.toml no longer names it, until plugin \"q\" is active or no"
                + " longer named";
        host.awaitLog("WARN plugin_kept: " + line);
        assertEquals(line, state("p").reason());
        Files.createFile(release);
        awaitReasons("late", "three");
        awaitState("p", State.IDLE);
    }

    @Tag("long")
    @Test
    void oneThatIsAbandonedTakesNothingWithIt() throws Exception {
        host.changeWithin(6_000);
        policy("p", "one");
        start("one");
        slow("q");
        host.replan();
        awaitState("q", State.STARTING);
        host.noPlan();
        slow("q");
        policy("r", "three");
        host.replan();
        awaitReasons("one", "three");
        host.awaitLog("ERROR plugin_quarantined: plugins.toml:1:1: plugin \"q\" (" + host.home
                + "/etc/plugins/q.jar) is not active after 6 s and is abandoned");
        awaitState("q", State.QUARANTINED);
        // Another change does not try it again, and the policy stays.
        host.jar("etc/plugins/idle.jar", "idle", Denying.class, policies("idle"));
        awaitState("idle", State.IDLE, "idle.jar");
        assertEquals(State.QUARANTINED, state("q").state());
        assertEquals(List.of("one", "three"), reasons());
        // Nor does its file take the policy with it.
        Files.delete(host.home.resolve("etc/plugins/q.jar"));
        host.awaitLog("ERROR plugin_quarantined: plugins.toml:1:1: no bundle in ");
        assertEquals(List.of("one", "three"), reasons());
        host.noPlan();
        policy("r", "three");
        host.replan();
        awaitReasons("three");
    }

    @Test
    void aWorkersStartTakesWhatIsWantedMeanwhile() throws Exception {
        policy("p", "one");
        slow("q");
        plugins = host.start();
        awaitState("q", State.STARTING);
        assertFalse(plugins.ready().toCompletableFuture().isDone());
        host.noPlan();
        policy("p", "one");
        host.replan();
        assertEquals(Optional.empty(), host.failure());
        assertEquals(List.of("one"), reasons());
        assertTrue(host.log.stream().anyMatch(line -> line.contains("ends before it was active")), host.log::toString);
    }

    private void start(String reason) throws Exception {
        start();
        awaitReasons(reason);
    }

    private void policy(String kind, String reason) throws Exception {
        jar(kind, Denying.class);
        host.plan(kind, BY_KIND, Map.of("reason", reason));
    }

    private void slow(String kind) throws Exception {
        jar(kind, Waiting.class);
        host.plan(kind, BY_KIND, Map.of("file", release.toString()));
    }

    private void jar(String kind, Class<?> component) throws Exception {
        Path jar = host.home.resolve("etc/plugins/" + kind + ".jar");
        if (!Files.exists(jar)) {
            // In one step, so that no change of its own is seen of it.
            Files.move(host.jar("new.jar", kind, component, policies(kind)), jar);
        }
    }

    private void awaitState(String kind, State wanted) throws Exception {
        awaitState(kind, wanted, "");
    }

    private void awaitState(String kind, State wanted, String file) throws Exception {
        host.await(
                () -> state(kind).state() == wanted && state(kind).file().endsWith(file),
                () -> wanted + " is not " + plugins.status() + " " + host.log);
    }

    /** What the policies in force say; at least one is in force all the time. */
    private void awaitReasons(String... wanted) throws Exception {
        host.await(
                () -> {
                    List<String> now = reasons();
                    assertFalse(now.isEmpty(), () -> "off: " + plugins.status() + host.log);
                    return now.equals(List.of(wanted));
                },
                () -> reasons() + " " + plugins.status() + " " + host.log);
    }
}
