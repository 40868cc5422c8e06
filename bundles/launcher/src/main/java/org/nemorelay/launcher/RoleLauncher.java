package org.nemorelay.launcher;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.launcher.internal.FrameworkStorage;
import org.nemorelay.launcher.internal.ProcessEnd;
import org.nemorelay.launcher.internal.RoleFramework;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.JavaLogging;
import org.osgi.framework.BundleException;
import org.osgi.framework.FrameworkEvent;
import org.osgi.framework.launch.Framework;

/** Runs a role in this process, from its feature file to the exit status. */
public final class RoleLauncher {
    /**
     * How often a role that is not up yet is looked at. A start has no deadline, but a component that still waits for a
     * service after this time waits for ever, in a process that nobody sees.
     */
    private static final Duration LOOK_INTERVAL = Duration.ofMinutes(2);

    private static final Duration QUESTION_LIMIT = Duration.ofSeconds(30);

    /** How long plugins may take to stop; a drain comes before that and has its own limit. */
    private static final Duration STOP_LIMIT = Duration.ofMinutes(3);

    /** The same from the moment in which the role has said that it has ended: nothing of its work is left then. */
    private static final Duration OVER_STOP_LIMIT = Duration.ofSeconds(30);

    private static final Duration STOP_LOOK = Duration.ofMillis(250);

    /** The same for a role that never was up: it has accepted nothing, and what hangs in its start does not stop either. */
    private static final Duration UNREADY_STOP_LIMIT = Duration.ofSeconds(3);

    private RoleLauncher() {}

    /**
     * Runs the role until it ends by itself, fails, or a signal asks it to stop. Components drain in their deactivation;
     * the call returns when the framework has stopped. On SIGTERM and SIGINT the process exits from within, with status 0.
     * A role whose own components still wait for a service after two minutes has failed; one that only takes long has not.
     *
     * @return the exit status: 0, or what the role asked for
     * @throws RelayException what kept the role from starting or going on; the framework has stopped by then
     */
    public static int run(LaunchOptions options, EventLog log) {
        return run(options, log, System.getProperty("java.class.path"), LOOK_INTERVAL);
    }

    static int run(LaunchOptions options, EventLog log, String classPath, Duration lookInterval) {
        JavaLogging.install(log);
        ProcessEnd end = new ProcessEnd();
        CountDownLatch stopped = new CountDownLatch(1);
        Thread hook = new Thread(
                () -> {
                    end.signalled();
                    awaitQuietly(stopped);
                    // The JVM would report the signal's number; to be asked to stop is not a failure.
                    Runtime.getRuntime().halt(end.await().status());
                },
                "signal");
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            return runUntil(end, options, log, classPath, lookInterval);
        } finally {
            log.flush();
            stopped.countDown();
            removeHook(hook);
        }
    }

    /**
     * Starts a role for one question and stops it again.
     *
     * @param service whom to ask
     * @throws RelayException what keeps the role from starting, or the service from being there within 30 s
     */
    public static <S, T> T ask(LaunchOptions options, EventLog log, Class<S> service, Function<S, T> question) {
        JavaLogging.install(log);
        ProcessEnd end = new ProcessEnd();
        try (FrameworkStorage storage = FrameworkStorage.open(Path.of(System.getProperty("java.io.tmpdir")))) {
            RoleFramework role = new RoleFramework(
                    options,
                    log,
                    end,
                    end::startFails,
                    System.getProperty("java.class.path"),
                    storage.folder(),
                    Map.of());
            start(role, end);
            try {
                return question.apply(role.await(service, end, QUESTION_LIMIT));
            } finally {
                stop(role.framework(), end, STOP_LIMIT);
            }
        }
    }

    private static int runUntil(
            ProcessEnd end, LaunchOptions options, EventLog log, String classPath, Duration lookInterval) {
        try (FrameworkStorage storage = FrameworkStorage.open(Path.of(System.getProperty("java.io.tmpdir")))) {
            RoleFramework role =
                    new RoleFramework(options, log, end, end::startFails, classPath, storage.folder(), Map.of());
            start(role, end);
            while (!end.awaitReady(lookInterval)) {
                List<String> waiting = role.waiting();
                if (!waiting.isEmpty()) {
                    end.fail(new RelayException(
                            FailureKind.TIMEOUT,
                            "the role " + options.role() + " is not up after " + lookInterval.toSeconds() + " s: "
                                    + String.join(", ", waiting)));
                }
            }
            end.await();
            stop(role.framework(), end, end.wasReady() ? STOP_LIMIT : UNREADY_STOP_LIMIT);
        } catch (RelayException e) {
            end.fail(e);
        }
        ProcessEnd.End result = end.await();
        if (result.failure().isPresent()) {
            throw result.failure().get();
        }
        return result.status();
    }

    private static void start(RoleFramework role, ProcessEnd end) {
        try {
            role.install();
            role.start();
        } catch (RelayException e) {
            end.fail(e);
        } catch (BundleException e) {
            end.fail(new RelayException(FailureKind.INTERNAL, "the framework does not start: " + e.getMessage(), e));
        }
    }

    private static void stop(Framework framework, ProcessEnd end, Duration limit) {
        try {
            framework.stop();
            // A plugin that does not come to an end must not keep the process.
            long deadline = System.nanoTime() + limit.toNanos();
            boolean over = false;
            while (deadline - System.nanoTime() > 0
                    && framework.waitForStop(STOP_LOOK.toMillis()).getType() == FrameworkEvent.WAIT_TIMEDOUT) {
                if (!over && end.isOver()) {
                    over = true;
                    deadline = Math.min(deadline, System.nanoTime() + OVER_STOP_LIMIT.toNanos());
                }
            }
        } catch (BundleException e) {
            throw new RelayException(FailureKind.INTERNAL, "the framework does not stop: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // A signal is being answered: the hook ends the process.
        }
    }
}
