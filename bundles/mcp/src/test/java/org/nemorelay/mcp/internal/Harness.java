package org.nemorelay.mcp.internal;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.nemorelay.identity.ClientTokens;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.telemetry.EventLog;

/** A harness with one MCP process inside this JVM, and an installed tree whose worker is a script. */
final class Harness implements AutoCloseable {
    static final String TOKEN = "6ABczPkGGtD7g_0xg-a9dnUM0oftASYPYSzz0yvegK0";

    private final Path folder;
    private final OutputStream toProcess;
    private final LinkedBlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final McpProcess process;

    final List<String> logged = new CopyOnWriteArrayList<>();
    final CompletableFuture<Integer> status = new CompletableFuture<>();

    Harness(Path folder, DaemonUrl daemon, boolean credential) throws IOException {
        this(folder, daemon, credential, Map.of());
    }

    /** @param more of the process's environment */
    Harness(Path folder, DaemonUrl daemon, boolean credential, Map<String, String> more) throws IOException {
        this.folder = folder;
        Map<String, String> environment = new HashMap<>(more);
        environment.put("HOME", folder.toString());
        if (credential) {
            environment.put(ClientTokens.VARIABLE, TOKEN);
        }
        PipedInputStream in = new PipedInputStream(1 << 16);
        toProcess = new PipedOutputStream(in);
        PipedInputStream fromProcess = new PipedInputStream(1 << 16);
        PipedOutputStream out = new PipedOutputStream(fromProcess);
        process = new McpProcess(
                daemon,
                environment,
                folder.toString(),
                in,
                out,
                new PrintStream(OutputStream.nullOutputStream()),
                new Recorder(),
                status::complete);
        Thread.ofPlatform().daemon().start(() -> read(fromProcess));
        Thread.ofPlatform().daemon().start(() -> status.complete(process.run()));
    }

    /** Makes the script that plays {@code bin/nemo-relay}; it finds what it was given in {@code arguments} and {@code input}. */
    static void worker(Path folder, String then) throws IOException {
        Path script = folder.resolve("bin/nemo-relay");
        Files.createDirectories(script.getParent());
        Files.writeString(
                script,
                "#!/bin/sh\ncd \"$(dirname \"$0\")/..\"\nfor a; do echo \"$a\"; done > arguments\n"
                        + "echo \"token=${NEMO_RELAY_CLIENT_TOKEN-none}\" >> arguments\ncat > input\necho $$ >> pids\n"
                        + then + "\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    String file(String name) {
        try {
            Path file = folder.resolve(name);
            return Files.exists(file) ? Files.readString(file) : "";
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** The worker processes started so far that are alive. */
    long aliveWorkers() {
        return file("pids")
                .lines()
                .filter(pid -> ProcessHandle.of(Long.parseLong(pid))
                        .filter(ProcessHandle::isAlive)
                        .isPresent())
                .count();
    }

    long startedWorkers() {
        return file("pids").lines().count();
    }

    void send(String quoted) throws IOException {
        toProcess.write((quoted.replace('\'', '"') + "\n").getBytes(StandardCharsets.UTF_8));
        toProcess.flush();
    }

    /** Sends a line of bytes, one per character. */
    void raw(String line) throws IOException {
        toProcess.write((line + "\n").getBytes(StandardCharsets.ISO_8859_1));
        toProcess.flush();
    }

    void initialize() throws IOException {
        send("{'jsonrpc':'2.0','id':0,'method':'initialize','params':{'protocolVersion':'2025-11-25'}}");
    }

    String answer() throws InterruptedException {
        return answer(10);
    }

    /** What was told at the level error, without the fields. */
    List<String> errors() {
        return logged.stream()
                .filter(line -> line.startsWith("ERROR "))
                .map(line -> line.substring(0, line.indexOf(" [")) + line.substring(line.indexOf(']') + 1))
                .toList();
    }

    String answer(long seconds) throws InterruptedException {
        String answer = answers.poll(seconds, TimeUnit.SECONDS);
        if (answer == null) {
            throw new AssertionError("no answer within " + seconds + " s; logged " + logged);
        }
        return answer;
    }

    boolean silent() {
        return answers.isEmpty();
    }

    void endInput() throws IOException {
        toProcess.close();
    }

    void signal() {
        process.stop();
    }

    int exit() throws Exception {
        return status.get(10, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        for (String pid : file("pids").lines().toList()) {
            ProcessHandle.of(Long.parseLong(pid)).ifPresent(ProcessHandle::destroyForcibly);
        }
        // It writes into the test's folder for as long as it runs.
        process.stop();
        status.completeOnTimeout(-1, 10, TimeUnit.SECONDS).join();
    }

    private void read(PipedInputStream fromProcess) {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(fromProcess, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                answers.add(line);
            }
        } catch (IOException e) {
            // the writing thread has ended
        }
    }

    private final class Recorder implements EventLog {
        @Override
        public boolean enabled(Level level) {
            return true;
        }

        @Override
        public void log(Level level, String target, String event, String message, Object... fields) {
            logged.add(level + " " + event + " " + List.of(fields) + " " + message);
        }

        @Override
        public void flush() {}
    }
}
