package org.nemorelay.hook;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.hook.internal.HookOptions;
import org.nemorelay.hook.internal.HookRun;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.ProcessEventLog;

/** Entry point of {@code nemo-relay daemon hook}. Every tool call waits for it: it loads as little as it can. */
public final class HookMain {
    /** Harnesses give up after 30 s and then let the call pass; the hook's own policy has to speak before. */
    private static final long DEADLINE_MILLIS = 25_000;

    private HookMain() {}

    /** Runs the hook and ends the process: 0 delivered, answered locally or failed open, 2 denied, failed closed or wrong usage. */
    public static void main(String[] arguments) {
        run(arguments, System.getenv(), Optional.empty());
    }

    /** The same with an environment and a log of the caller's. */
    public static void run(String[] arguments, Map<String, String> environment, ProcessEventLog log) {
        run(arguments, environment, Optional.of(log));
    }

    /** The line about settings of the log that cannot be heeded: the hook is more than its log, and goes on. */
    public static String loggingIgnored(RelayException failure) {
        return HookRun.loggingIgnored(failure);
    }

    private static void run(String[] arguments, Map<String, String> environment, Optional<ProcessEventLog> log) {
        PrintStream err = new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        FileOutputStream out = new FileOutputStream(FileDescriptor.out);
        Optional<HookOptions> options;
        try {
            options = HookOptions.parse(arguments);
        } catch (RelayException e) {
            err.println("error: " + e.getMessage() + "\n\n" + HookOptions.USAGE
                    + "\n\nFor more information, try '--help'.");
            Runtime.getRuntime().halt(HookRun.CLOSED);
            return;
        }
        if (options.isEmpty()) {
            new PrintStream(out, true, StandardCharsets.UTF_8).print(HookOptions.HELP);
            Runtime.getRuntime().halt(0);
            return;
        }
        HookRun run = new HookRun(options.get(), environment, log, new FileInputStream(FileDescriptor.in), out, err);
        Thread deadline = new Thread(new Deadline(run), "deadline");
        deadline.setDaemon(true);
        deadline.start();
        end(run.run());
    }

    private static void end(int status) {
        if (status == HookRun.TOLD) {
            return; // The other thread has spoken and ends the process.
        }
        Runtime.getRuntime().halt(status);
    }

    private record Deadline(HookRun hook) implements Runnable {
        @Override
        public void run() {
            try {
                Thread.sleep(DEADLINE_MILLIS - sinceProcessStart());
                end(hook.expire());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private static long sinceProcessStart() {
            Optional<Instant> start = ProcessHandle.current().info().startInstant();
            long elapsed =
                    start.isPresent() ? System.currentTimeMillis() - start.get().toEpochMilli() : 0;
            return Math.clamp(elapsed, 0, DEADLINE_MILLIS);
        }
    }
}
