package org.nemorelay.it;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A real process with an environment of its own choosing (nothing is inherited), whose outputs are collected while it
 * runs. Closing it kills it.
 */
public final class Proc implements AutoCloseable {
    private final String name;
    private final Process process;
    private final Collector stdout;
    private final Collector stderr;

    private Proc(String name, Process process) {
        this.name = name;
        this.process = process;
        this.stdout = new Collector(name + "-stdout", process.getInputStream());
        this.stderr = new Collector(name + "-stderr", process.getErrorStream());
    }

    /** How a process is started; reusable. */
    public static final class Spec {
        private final List<String> command = new ArrayList<>();
        private final Map<String, String> environment = new LinkedHashMap<>();
        private Path folder = Path.of("/");

        public Spec command(String... words) {
            command.addAll(List.of(words));
            return this;
        }

        public Spec command(List<String> words) {
            command.addAll(words);
            return this;
        }

        public Spec env(String key, String value) {
            environment.put(key, value);
            return this;
        }

        public Spec env(Map<String, String> values) {
            environment.putAll(values);
            return this;
        }

        Map<String, String> environment() {
            return environment;
        }

        public Spec in(Path workingFolder) {
            folder = workingFolder;
            return this;
        }

        /** Runs as another user; needs root. */
        public Spec asUid(int uid) {
            return under(List.of("setpriv", "--reuid=" + uid, "--regid=" + uid, "--clear-groups", "--"));
        }

        /** Runs through a program that ends by executing the rest of its arguments, so that the pid stays. */
        public Spec under(List<String> wrapper) {
            command.addAll(0, wrapper);
            return this;
        }

        public Proc start() {
            ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
            builder.environment().clear();
            builder.environment().putAll(environment);
            try {
                return new Proc(Path.of(command.getFirst()).getFileName() + " " + command.getLast(), builder.start());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Starts, writes {@code input}, closes standard input and waits for the end. */
        public Result run(byte[] input, Duration limit) {
            try (Proc proc = start()) {
                proc.write(input);
                proc.closeInput();
                int exit = proc.awaitExit(limit);
                return new Result(exit, proc.stdout(), proc.stderr());
            }
        }

        public Result run(Duration limit) {
            return run(new byte[0], limit);
        }
    }

    /** What a finished process left. */
    public record Result(int exit, String stdout, String stderr) {}

    public static Spec spec() {
        return new Spec().env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    }

    public long pid() {
        return process.pid();
    }

    public boolean alive() {
        return process.isAlive();
    }

    public String stdout() {
        return stdout.text();
    }

    public String stderr() {
        return stderr.text();
    }

    /** Writes to standard input; a process that no longer reads is not a failure here, its exit tells. */
    public void write(byte[] input) {
        try {
            OutputStream stdin = process.getOutputStream();
            stdin.write(input);
            stdin.flush();
        } catch (IOException e) {
            stderr.note("[standard input closed: " + e.getMessage() + "]");
        }
    }

    public void writeLine(String line) {
        write((line + "\n").getBytes(StandardCharsets.UTF_8));
    }

    public void closeInput() {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            stderr.note("[standard input closed: " + e.getMessage() + "]");
        }
    }

    public void signal(String name) {
        try {
            new ProcessBuilder("kill", "-" + name, Long.toString(pid())).start().waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public int awaitExit(Duration limit) {
        try {
            if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new AssertionError(name + " did not end within " + limit + "\n" + transcript());
            }
            stdout.join();
            stderr.join();
            return process.exitValue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The line of standard output, counted from 0, waited for. */
    public String stdoutLine(int index, Duration limit) {
        return Await.value("line " + index + " on stdout of " + name, limit, () -> {
            List<String> lines = stdout.completeLines();
            if (lines.size() > index) {
                return lines.get(index);
            }
            if (!alive() && stdout.ended()) {
                throw new AssertionError(name + " ended\n" + transcript());
            }
            return null;
        });
    }

    public String transcript() {
        return "--- stdout of " + name + "\n" + stdout() + "\n--- stderr of " + name + "\n" + stderr();
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static final class Collector implements Runnable {
        private final StringBuilder text = new StringBuilder();
        private final InputStream source;
        private final Thread thread;
        private volatile boolean ended;

        Collector(String name, InputStream source) {
            this.source = source;
            // No virtual thread: reading a pipe holds its carrier, and a few of these would hold them all.
            this.thread = Thread.ofPlatform().daemon().name(name).start(this);
        }

        @Override
        public void run() {
            byte[] buffer = new byte[8192];
            try {
                for (int n = source.read(buffer); n >= 0; n = source.read(buffer)) {
                    note(new String(buffer, 0, n, StandardCharsets.UTF_8));
                }
            } catch (IOException e) {
                note("[" + e.getMessage() + "]");
            }
            ended = true;
        }

        synchronized void note(String more) {
            text.append(more);
        }

        synchronized String text() {
            return text.toString();
        }

        List<String> completeLines() {
            String all = text();
            int end = all.lastIndexOf('\n');
            return end < 0 ? List.of() : all.substring(0, end).lines().toList();
        }

        boolean ended() {
            return ended;
        }

        void join() throws InterruptedException {
            // A grandchild may hold the pipe open: what has arrived is enough.
            thread.join(Duration.ofSeconds(2));
        }
    }
}
