package org.nemorelay.worker.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.config.EffectiveSettings;
import org.nemorelay.control.ControlListener;
import org.nemorelay.http.HttpListener;
import org.nemorelay.pluginhost.PluginHost;
import org.nemorelay.pluginhost.PluginStatus;
import org.nemorelay.pluginhost.Snapshot;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.control.PluginReport;
import org.nemorelay.protocol.control.Secret;
import org.nemorelay.protocol.control.ServerEvent;
import org.nemorelay.protocol.control.SettingReport;
import org.nemorelay.telemetry.ProcessControl;

/** The order of a worker's life and its endings (relay-daemon 7). */
@Timeout(30)
final class WorkerLifeTest {
    private final List<String> acts = new CopyOnWriteArrayList<>();
    private final MemoryLog log = new MemoryLog();
    private final AtomicLong paused = new AtomicLong();
    private final Admission admission = new Admission(new Standstill(() -> System.nanoTime() + paused.get()));
    private final FakeDaemon daemon = new FakeDaemon();
    private final CompletableFuture<Void> plugins = new CompletableFuture<>();
    private final Worker worker = new Worker(
            new LaunchGrant("a", "t", LaunchGrant.NO_DEADLINE, "127.0.0.1", 0, Optional.empty()),
            daemon,
            admission,
            new FakePlugins(),
            new FakeSurroundings(),
            log,
            new FakeProcess(),
            2_000);
    private volatile boolean gone;
    private volatile boolean orphan;
    private volatile boolean sameClock = true;
    private final Thread thread = new Thread(worker, "worker under test");

    @BeforeEach
    void start() {
        thread.start();
    }

    @AfterEach
    void end() throws Exception {
        worker.stop();
        while (admission.inFlight() > 0) {
            admission.leave();
        }
        thread.join(5_000);
        assertTrue(!thread.isAlive(), "the worker's thread did not end");
    }

    private void serving() {
        plugins.complete(null);
        Awaiting.await("ready", () -> acts.contains("process ready"));
    }

    private void drain(long millis) {
        daemon.listeners.getLast().drain(new ServerEvent.Drain("d", daemon.workerId(), -1, millis));
    }

    private void ended() throws Exception {
        thread.join(10_000);
        assertTrue(!thread.isAlive(), "still alive after " + acts);
    }

    @Test
    void publishesWhenThePluginsRun() throws Exception {
        Awaiting.await("registered", () -> acts.contains("register http://127.0.0.1:4711"));
        // The administrator's list shows what a start waits for.
        Awaiting.await("told", () -> acts.contains("report 1"));
        assertEquals(List.of("listen", "register http://127.0.0.1:4711", "report 1"), acts);
        serving();
        drain(1_000);
        ended();
        assertEquals(
                List.of(
                        "listen",
                        "register http://127.0.0.1:4711",
                        "report 1",
                        "observe",
                        "ready",
                        "process ready",
                        "listener closed",
                        "observation closed",
                        "exit 0"),
                acts.stream().distinct().toList());
        assertEquals(
                List.of("worker_ready worker_id=w", "worker_stopped worker_id=w reason=drained outcome=success"),
                log.lines);
    }

    /** A class that cannot be loaded any more, for instance: the process would stay, with nobody to end it. */
    @Test
    void aDefectEndsTheProcess() {
        gone = true;
        plugins.complete(null);
        Awaiting.await("failed", () -> acts.stream().anyMatch(act -> act.startsWith("fail ")));
        assertTrue(
                acts.getLast()
                        .startsWith("fail the worker cannot go on: internal error: java.lang.NoClassDefFoundError:"
                                + " org/nemorelay/Gone at "),
                acts.getLast());
        assertTrue(log.lines.getLast().contains("reason=failed"), "" + log.lines);
    }

    @Test
    void drainWaitsForWhatIsInFlight() throws Exception {
        serving();
        enter();
        drain(20_000);
        Awaiting.await("stopped admitting", this::stopping);
        assertTrue(thread.isAlive());
        assertTrue(acts.stream().noneMatch(act -> act.contains("closed")), "" + acts);
        admission.leave();
        ended();
        assertTrue(log.lines.getLast().contains("reason=drained"), "" + log.lines);
    }

    @Test
    void theFirstDeadlineWins() throws Exception {
        serving();
        enter();
        drain(50);
        drain(20_000);
        ended();
        assertTrue(log.lines.getLast().contains("reason=drain_deadline_reached"), "" + log.lines);
        assertTrue(acts.contains("exit 0"));
    }

    @Test
    void aDrainThatIsReadAfterItsDeadlineCutsAtOnce() throws Exception {
        serving();
        enter();
        long past = System.currentTimeMillis() - 1;
        daemon.listeners.getLast().drain(new ServerEvent.Drain("d", daemon.workerId(), past, 600_000));
        assertEquals(Admission.Verdict.STOPPING, admission.enter());
        assertFalse(admission.maySend());
        ended();
        assertTrue(log.lines.getLast().contains("reason=drain_deadline_reached"), "" + log.lines);
    }

    /** It stood still: what waits is sent when the daemon has answered, and not where a drain was among what it had said. */
    @Test
    void afterAPauseTheDaemonIsHeardFirst() {
        serving();
        List<String> sent = new CopyOnWriteArrayList<>();
        daemon.reporting = () -> sent.add("heard");
        paused.set(TimeUnit.SECONDS.toNanos(100));
        admission.standstill().await(() -> sent.add("sent " + admission.maySend()));
        Awaiting.await("sent", () -> sent.contains("sent true"));
        assertEquals("heard", sent.getFirst());
        long past = System.currentTimeMillis() - 1;
        daemon.reporting =
                () -> daemon.listeners.getLast().drain(new ServerEvent.Drain("d", daemon.workerId(), past, 600_000));
        paused.set(TimeUnit.SECONDS.toNanos(300));
        admission.standstill().await(() -> sent.add("sent " + admission.maySend()));
        Awaiting.await("not sent", () -> sent.contains("sent false"));
    }

    @Test
    void whatWaitsWhenControlIsLostDoesNotWaitForItsReturn() {
        serving();
        daemon.refusals = Integer.MAX_VALUE;
        daemon.listeners.getFirst().disconnected();
        Awaiting.await("lost", () -> log.events().contains("worker_control_lost"));
        paused.set(TimeUnit.SECONDS.toNanos(100));
        assertFalse(admission.standstill().doubted());
    }

    @Test
    void anotherMachinesClockDecidesNothing() {
        serving();
        enter();
        sameClock = false;
        daemon.listeners.getLast().drain(new ServerEvent.Drain("d", daemon.workerId(), 1, 600_000));
        Awaiting.await("stopped admitting", this::stopping);
        assertTrue(admission.maySend());
    }

    @Test
    void aSignalFinishesWhatIsInFlight() throws Exception {
        serving();
        enter();
        worker.stop();
        worker.stop();
        Awaiting.await("stopped admitting", this::stopping);
        admission.leave();
        ended();
        assertTrue(log.lines.getLast().contains("reason=signal"), "" + log.lines);
        assertTrue(acts.contains("exit 0"));
    }

    /** What the daemon had sent before it knew is taken, until it says that nothing is under way any more. */
    @Test
    void aWorkerThatLeavesTakesRequestsUntilItIsLetGo() throws Exception {
        daemon.peer = true;
        serving();
        worker.stop();
        Awaiting.await("told", () -> acts.contains("leave"));
        enter();
        assertFalse(acts.contains("listener closed"), "" + acts);
        drain(20_000);
        Awaiting.await("stopped admitting", this::stopping);
        assertTrue(thread.isAlive(), "one request is still in flight");
        admission.leave();
        ended();
        assertTrue(log.lines.getLast().contains("reason=signal"), "" + log.lines);
        assertFalse(acts.contains("link 1 closed"), "its control connection ends with the process");
    }

    @Test
    void aWorkerThatLeavesAndLosesItsDaemonDrainsByItself() throws Exception {
        daemon.peer = true;
        serving();
        enter();
        worker.stop();
        Awaiting.await("told", () -> acts.contains("leave"));
        daemon.listeners.getLast().disconnected();
        Awaiting.await("stopped admitting", this::stopping);
        admission.leave();
        ended();
        assertEquals(1, daemon.listeners.size(), "it does not come back");
        assertTrue(log.lines.getLast().contains("reason=signal"), "" + log.lines);
    }

    @Test
    void aWorkerThatLeavesIsNotHeldLongerThanItsDrain() throws Exception {
        daemon.peer = true;
        serving();
        worker.stop();
        ended();
        assertTrue(acts.contains("leave"), "" + acts);
        assertTrue(acts.contains("exit 0"), "" + acts);
    }

    @Test
    void aDaemonThatRefusesTheLeaveDoesNotHoldTheWorker() throws Exception {
        daemon.peer = true;
        daemon.refusesLeave = true;
        serving();
        enter();
        worker.stop();
        Awaiting.await("stopped admitting", this::stopping);
        admission.leave();
        ended();
        assertTrue(log.lines.getLast().contains("reason=signal"), "" + log.lines);
    }

    @Test
    void aLostConnectionIsRecoveredWithAFreshToken() throws Exception {
        serving();
        daemon.refusals = 2;
        daemon.listeners.getFirst().disconnected();
        Awaiting.await("restored", () -> log.events().contains("worker_control_restored"));
        assertEquals(Admission.Verdict.ENTER, admission.enter());
        admission.leave();
        // What an earlier connection still has to say means nothing.
        daemon.listeners.getFirst().disconnected();
        drain(1_000);
        ended();
        assertEquals(
                List.of("worker_ready", "worker_control_lost", "worker_control_restored", "worker_stopped"),
                log.events());
    }

    /** Its last session left meanwhile: the daemon says so again, publishes it no more, and it ends at once. */
    @Test
    void aDrainThatComesWithTheRecoveryIsObeyed() throws Exception {
        serving();
        daemon.drained = true;
        daemon.listeners.getFirst().disconnected();
        ended();
        assertEquals(2, daemon.listeners.size(), "one recovery, " + acts);
        assertTrue(log.lines.getLast().contains("reason=drained"), "" + log.lines);
    }

    /** 100,000 of them, each acknowledged before it is heard. */
    @Test
    void drainsThatAreSaidAgainLeaveNothing() throws Exception {
        serving();
        enter();
        System.gc();
        long before = Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
        for (int i = 0; i < 100_000; i++) {
            drain(20_000);
        }
        System.gc();
        long grown = Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory() - before;
        assertTrue(grown < 2 << 20, "the heap has grown by " + grown + " bytes");
        admission.leave();
        ended();
    }

    @Test
    @Timeout(60)
    void thirtySecondsWithoutControlBeginItsOwnDrain() throws Exception {
        serving();
        enter();
        daemon.refusals = Integer.MAX_VALUE;
        long lost = System.nanoTime();
        daemon.listeners.getFirst().disconnected();
        Awaiting.await("nothing is taken any more", () -> verdict() == Admission.Verdict.PASS_BY);
        while (!stopping()) {
            assertTrue(thread.isAlive(), "one request is still in flight");
            Thread.sleep(50);
        }
        long waited = (System.nanoTime() - lost) / 1_000_000;
        assertTrue(waited >= 27_000 && waited <= 31_000, "the window for a recovery was " + waited + " ms");
        assertEquals(1, admission.inFlight());
        ended();
        long drained = (System.nanoTime() - lost) / 1_000_000 - waited;
        assertTrue(drained >= 1_900, "the request had " + drained + " ms of its two minutes, here 2,000 ms");
        assertTrue(log.lines.getLast().contains("reason=control_recovery_failed"), "" + log.lines);
        assertTrue(acts.contains("exit 0"), "" + acts);
    }

    @Test
    void aFailedStartOfThePluginsIsAFailureOfTheProcess() throws Exception {
        plugins.completeExceptionally(new RelayException(FailureKind.PLUGIN, "kind x is unknown"));
        ended();
        assertTrue(acts.contains("fail kind x is unknown"), "" + acts);
        assertTrue(acts.contains("link 1 closed"), "" + acts);
        assertTrue(log.lines.getLast().contains("outcome=failure error_kind=plugin"), "" + log.lines);
    }

    @Test
    void aLossBeforeReadyIsAFailure() throws Exception {
        Awaiting.await("registered", () -> !daemon.listeners.isEmpty());
        daemon.listeners.getFirst().disconnected();
        ended();
        assertTrue(acts.stream().anyMatch(act -> act.startsWith("fail the control connection")), "" + acts);
    }

    /** The session ended: its MCP client cancels the launch at the daemon, and then asks this process to stop. */
    @Test
    void aLossBeforeReadyIsNoFailureWhereTheLaunchWasCancelled() throws Exception {
        Awaiting.await("registered", () -> !daemon.listeners.isEmpty());
        daemon.listeners.getFirst().disconnected();
        Awaiting.await("closed", () -> acts.contains("link 1 closed"));
        worker.stop();
        ended();
        assertTrue(acts.contains("exit 0"), "" + acts);
        assertEquals(List.of("worker_stopped worker_id=w reason=signal outcome=success"), log.lines);
    }

    /** The same where the MCP client was killed. */
    @Test
    void aLossBeforeReadyIsNoFailureWhereNobodyIsLeftToHearOfIt() throws Exception {
        Awaiting.await("registered", () -> !daemon.listeners.isEmpty());
        orphan = true;
        daemon.listeners.getFirst().disconnected();
        ended();
        assertTrue(acts.contains("exit 0"), "" + acts);
        assertEquals(List.of("worker_stopped worker_id=w reason=signal outcome=success"), log.lines);
    }

    @Test
    void aDrainBeforeReadyEndsWell() throws Exception {
        Awaiting.await("registered", () -> !daemon.listeners.isEmpty());
        drain(1_000);
        ended();
        assertTrue(acts.contains("exit 0"), "" + acts);
        assertTrue(!acts.contains("ready"), "" + acts);
    }

    private boolean stopping() {
        return verdict() == Admission.Verdict.STOPPING;
    }

    private Admission.Verdict verdict() {
        Admission.Verdict verdict = admission.enter();
        if (verdict == Admission.Verdict.ENTER) {
            admission.leave();
        }
        return verdict;
    }

    private void enter() {
        assertEquals(Admission.Verdict.ENTER, admission.enter());
    }

    /** Probes by itself in {@code ready}. */
    private final class FakeDaemon implements Daemon {
        final List<ControlListener> listeners = new CopyOnWriteArrayList<>();
        volatile int refusals;
        /** Set to drain whoever comes back. */
        volatile boolean drained;
        /** Whether it understands a worker that leaves. */
        volatile boolean peer;

        volatile boolean refusesLeave;
        /** What happens before it answers a report. */
        volatile Runnable reporting = () -> {};

        @Override
        public String workerId() {
            return "w";
        }

        @Override
        public Link register(String endpoint, LaunchGrant grant, ControlListener listener, long deadline) {
            acts.add("register " + endpoint);
            return link(listener);
        }

        @Override
        public Link recover(String endpoint, ControlListener listener, long deadline) {
            if (refusals-- > 0) {
                listener.disconnected();
                throw new RelayException(FailureKind.CONFLICT, "not yet");
            }
            Link link = link(listener);
            if (drained) {
                listener.drain(new ServerEvent.Drain("d", workerId(), -1, 20_000));
            }
            return link;
        }

        private Link link(ControlListener listener) {
            listeners.add(listener);
            int number = listeners.size();
            return new Link() {
                @Override
                public Secret dataToken() {
                    return new Secret("token " + number);
                }

                @Override
                public void ready(long deadline) {
                    acts.add("ready");
                    if (drained) {
                        throw new RelayException(FailureKind.CONFLICT, "the worker is draining");
                    }
                    HttpFields.Mutable fields = HttpFields.build().add("x-nemo-relay-worker-token", "token " + number);
                    assertTrue(admission.authentic(fields) && admission.probe(fields));
                }

                @Override
                public void report(List<PluginReport> reported, List<SettingReport> settings) {
                    acts.add("report " + reported.size());
                    reporting.run();
                }

                @Override
                public boolean leave() {
                    if (refusesLeave) {
                        throw new RelayException(FailureKind.CONFLICT, "no");
                    }
                    acts.add("leave");
                    if (Thread.interrupted()) {
                        throw new RelayException(FailureKind.UNAVAILABLE, "the wait for the daemon was interrupted");
                    }
                    return peer;
                }

                @Override
                public void close() {
                    acts.add("link " + number + " closed");
                }
            };
        }
    }

    private final class FakePlugins implements PluginHost {
        @Override
        public CompletionStage<Void> ready() {
            return plugins;
        }

        @Override
        public List<PluginStatus> status() {
            return List.of(new PluginStatus("k", "1", PluginStatus.State.ACTIVE, "f", ""));
        }

        @Override
        public Map<String, Boolean> planned() {
            return Map.of("k", true);
        }

        @Override
        public List<EffectiveSettings.Setting> settings() {
            return List.of();
        }

        @Override
        public void onChange(Runnable listener) {}

        @Override
        public Map<String, Object> configuration() {
            return Map.of();
        }

        @Override
        public Use enter() {
            return () -> {};
        }

        @Override
        public Snapshot snapshot() {
            return Snapshot.NONE;
        }
    }

    private final class FakeSurroundings implements Worker.Surroundings {
        @Override
        public List<EffectiveSettings.Setting> settings() {
            return List.of();
        }

        @Override
        public String endpoint(int port) {
            return "http://127.0.0.1:" + port;
        }

        @Override
        public HttpListener listen() {
            acts.add("listen");
            return new HttpListener() {
                @Override
                public int port() {
                    return 4711;
                }

                @Override
                public void close(Duration grace) {
                    acts.add("listener closed");
                }

                @Override
                public void close() {
                    acts.add("listener closed");
                }
            };
        }

        @Override
        public void observe() {
            if (gone) {
                throw new NoClassDefFoundError("org/nemorelay/Gone");
            }
            acts.add("observe");
        }

        @Override
        public void closeObservation(long millis) {
            acts.add("observation closed");
        }

        @Override
        public boolean daemonHasThisClock() {
            return sameClock;
        }

        @Override
        public boolean starterGone() {
            return orphan;
        }
    }

    private final class FakeProcess implements ProcessControl {
        @Override
        public void ready() {
            acts.add("process ready");
        }

        @Override
        public void fail(RelayException failure) {
            acts.add("fail " + failure.getMessage());
        }

        @Override
        public void exit(int status) {
            acts.add("exit " + status);
        }
    }
}
