package org.nemorelay.pluginhost.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Timer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import javax.management.JMException;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import org.junit.jupiter.api.Test;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.api.ToolCall;
import org.nemorelay.pluginhost.PluginStatus.State;
import org.nemorelay.pluginhost.PolicyGate;
import org.nemorelay.pluginhost.internal.MadeUpPlugins.Blocking;
import org.nemorelay.pluginhost.internal.MadeUpPlugins.Denying;
import org.nemorelay.pluginhost.internal.MadeUpPlugins.Stuck;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.wiring.BundleWiring;

/** What a plugin that was taken away leaves behind, and what does not come back, is named; one that leaves nothing is forgotten. */
class WhatStaysBehindIsNamedTest extends WithHost {
    /** B34: the plugin uses what class loaders hang on, and gives it back; the later rounds leave no classes either. */
    @Test
    void fiftyRoundsLeaveAtMostOneOldClassLoader() throws Exception {
        start();
        host.jar(
                "etc/plugins/p.jar",
                "p",
                Tidy.class,
                policies("p", "Import-Package", "org.nemorelay.plugin.api,org.nemorelay.json,javax.management"));
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
        start();
        host.jar("etc/plugins/p.jar", "p", Blocking.class, policies("p"));
        host.plan("p", Optional.of(false), Map.of("reason", "one")).replan();
        host.awaitLog("ERROR plugins_rejected: plugins.toml:1:1: plugin \"p\" (" + host.home
                + "/etc/plugins/p.jar) is not active after 3 s and is abandoned");
        // Others come and go.
        host.jar("etc/plugins/q.jar", "q", Denying.class, policies("q"));
        host.noPlan().plan("q", BY_KIND, Map.of("reason", "two")).replan();
        awaitReason("two");
    }

    @Test
    void threadsThatAreLeftBehindAreNamed() throws Exception {
        comesAndGoes(Leaving.class, policies("p"));
        host.awaitLog("ERROR plugin_abandoned: plugin p 1.2.3 of " + host.home
                + "/etc/plugins/p.jar is removed and has left threads behind, which keep its classes in memory: left"
                + " over; end them in the plugin's deactivation");
    }

    @Test
    void threadsOfAnActivatorAreNamed() throws Exception {
        comesAndGoes(
                LeavingActivator.class,
                policies(
                        "p",
                        "Import-Package",
                        "org.nemorelay.plugin.api,org.osgi.framework",
                        "Bundle-Activator",
                        LeavingActivator.class.getName()));
        host.awaitLog("ERROR plugin_abandoned: plugin p 1.2.3 of " + host.home
                + "/etc/plugins/p.jar is removed and has left threads behind, which keep its classes in memory: of the"
                + " activator; end them in the plugin's deactivation");
    }

    @Test
    void aClassLoaderThatIsKeptIsNamed() throws Exception {
        host.stopWithin(60_000);
        comesAndGoes(Hooking.class, policies("p"));
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
        host.jar("etc/plugins/p.jar", "p", Stuck.class, policies("p"));
        host.plan("p", BY_KIND, Map.of("file", release.toString()));
        start();
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

    @Test
    void whatStayedBehindIsListedUntilItIsGone() throws Exception {
        host.jar("etc/plugins/p.jar", "p", Stuck.class, policies("p"));
        host.plan("p", OPTIONAL, Map.of("file", release.toString()));
        start();
        assertTrue(plugins.snapshot()
                .policies()
                .getFirst()
                .judge(call(), 50)
                .join()
                .denial()
                .isPresent());
        host.noPlan().replan();
        host.await(
                () -> plugins.status().toString().contains("has left threads behind"),
                () -> plugins.status().toString());
        Files.createFile(release);
        host.await(
                () -> {
                    System.gc();
                    return !plugins.status().toString().contains("has left threads behind");
                },
                () -> plugins.status().toString());
    }

    @Test
    void callsOfOneThatWasReplacedAreNotItsSuccessors() throws Exception {
        host.jar("etc/plugins/p.jar", "p", Stuck.class, policies("p"));
        host.plan("p", BY_KIND, Map.of("file", release.toString()));
        start();
        PolicyGate gate = plugins.snapshot().policies().getFirst();
        assertTrue(gate.judge(call(), 50).join().denial().isPresent());
        awaitReason(
                "p",
                "1 call has not come back in time; each keeps one of the 8 threads of its service; correct the plugin");
        host.noPlan()
                .plan("p", BY_KIND, Map.of("file", release.toString(), "other", "x"))
                .replan();
        host.await(
                () -> plugins.snapshot().policies().getFirst() != gate,
                () -> plugins.status().toString());
        // Its call has still not come back, and the other's are none.
        host.await(() -> state("p").reason().isEmpty(), () -> plugins.status().toString());
        assertEquals(State.ACTIVE, state("p").state());
    }

    private void comesAndGoes(Class<?> component, Map<String, String> headers) throws Exception {
        start();
        host.jar("etc/plugins/p.jar", "p", component, headers);
        host.plan("p", OPTIONAL, Map.of()).replan();
        host.await(
                () -> plugins.snapshot().policies().size() == 1,
                () -> plugins.status().toString());
        host.noPlan().replan();
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

    /** Its activator starts a thread, and nothing ends it. */
    public static final class LeavingActivator extends Allowing implements BundleActivator {
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
    }

    /** Starts a thread and does not end it. */
    public static final class Leaving extends Allowing {
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
    }
}
