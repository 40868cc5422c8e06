package org.nemorelay.mcp;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.mcp.internal.McpOptions;
import org.nemorelay.mcp.internal.McpProcess;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.LogSettings;
import org.nemorelay.telemetry.ProcessEventLog;

/**
 * {@code nemo-relay daemon mcp}: a plain program without a framework, because a harness waits for it. Standard output
 * carries the MCP protocol and nothing else.
 */
public final class McpMain {
    private static final int USAGE = 2;
    private static final int FAILED = 1;
    private static final long READER_END_MS = 20;

    private McpMain() {}

    /** Serves until the input ends or a signal comes (0), or until it cannot go on (1); 2 for wrong usage. Ends the JVM. */
    public static void main(String[] arguments) {
        Map<String, String> environment = System.getenv();
        LogSettings logging;
        try {
            logging = LogSettings.DEFAULT.with(environment);
        } catch (RelayException e) {
            new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8)
                    .println("nemo-relay daemon mcp: " + e.getMessage());
            Runtime.getRuntime().halt(FAILED);
            return;
        }
        run(arguments, environment, logging);
    }

    /** The same with an environment and a log of the caller's; workers that it starts have those of this process. */
    public static void run(String[] arguments, Map<String, String> environment, LogSettings logging) {
        PrintStream err = new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        Optional<McpOptions> options;
        try {
            options = McpOptions.parse(arguments);
        } catch (RelayException e) {
            err.println(
                    "error: " + e.getMessage() + "\n\n" + McpOptions.USAGE + "\n\nFor more information, try '--help'.");
            Runtime.getRuntime().halt(USAGE);
            return;
        }
        FileOutputStream out = new FileOutputStream(FileDescriptor.out);
        if (options.isEmpty()) {
            new PrintStream(out, true, StandardCharsets.UTF_8).print(McpOptions.HELP);
            Runtime.getRuntime().halt(0);
            return;
        }
        System.setOut(err);
        McpProcess process;
        try {
            process = new McpProcess(
                    options.get().daemonAddress(),
                    environment,
                    System.getProperty("nemorelay.home", ""),
                    Channels.newInputStream(new FileInputStream(FileDescriptor.in).getChannel()),
                    out,
                    err,
                    ProcessEventLog.synchronous(logging),
                    Runtime.getRuntime()::halt);
        } catch (RelayException e) {
            err.println("nemo-relay daemon mcp: " + e.getMessage());
            Runtime.getRuntime().halt(FAILED);
            return;
        }
        Thread main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread("signal") {
            @Override
            public void run() {
                end(process, main);
            }
        });
        Runtime.getRuntime().halt(process.run());
    }

    /** To be asked to stop is no failure, while the JVM would report the signal's number. */
    private static void end(McpProcess process, Thread main) {
        process.stop();
        try {
            // halt() waits 300 ms for every thread inside a system call. This one can be woken; one that waits for the
            // end
            // of a worker, of which this process is the parent, cannot.
            main.join(READER_END_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(0);
    }
}
