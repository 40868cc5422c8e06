package org.nemorelay.cli.internal.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.nemorelay.protocol.Reasons;

/** A private copy of the installed tree with its own configuration, a home folder, and the processes that run in it. Closing ends and removes all of it. */
final class Scene implements AutoCloseable {
    private static final long GENTLE_SECONDS = 5;

    /** Ends a process when the thread that started it is gone, as it is when the demo is killed. */
    private static final Path SETPRIV = Path.of("/usr/bin/setpriv");

    /** A process of the scene; its standard error is kept in a file. */
    record Child(String name, Process process, Path errors) {
        /** Its exit status; {@link DemoFailure} when it has not ended in time. */
        int end(long seconds) throws InterruptedException {
            if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
                throw new DemoFailure(name + " did not end within " + seconds + " s");
            }
            return process.exitValue();
        }

        /** Whether this text stands in what it, or a process it started, wrote to standard error. */
        boolean wrote(String text) {
            return lines().stream().anyMatch(line -> line.contains(text));
        }

        /** The last line on standard error that is meant for people: one that is no log event. */
        String lastWords() {
            return lines().stream()
                    .filter(line -> !line.isBlank() && !Character.isDigit(line.charAt(0)))
                    .reduce((earlier, later) -> later)
                    .orElse("it said nothing");
        }

        private List<String> lines() {
            try {
                return Files.readAllLines(errors);
            } catch (IOException e) {
                return List.of(e.toString());
            }
        }
    }

    private final Path folder;
    private final Map<String, String> environment;
    private final List<Child> children = new ArrayList<>();
    private boolean closed;

    /** @param environment of this process, of which the children get what the demo does not decide itself */
    Scene(Map<String, String> environment) throws IOException {
        this.environment = environment;
        this.folder = Files.createTempDirectory("nemo-relay-demo");
        for (String name : List.of("home", "tmp", "events", "log")) {
            Files.createDirectory(folder.resolve(name));
        }
    }

    Path home() {
        return folder.resolve("home");
    }

    /** Where the plugin writes. */
    Path events() {
        return folder.resolve("events");
    }

    /** Copies the tree, by hard links where the file system allows it. */
    void copyTree(Path from) throws IOException {
        Path to = folder.resolve("tree");
        Files.walkFileTree(from, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path source, BasicFileAttributes attributes) throws IOException {
                if (source.equals(from.resolve("etc"))) {
                    return FileVisitResult.SKIP_SUBTREE; // The scene has a configuration of its own.
                }
                Files.createDirectory(to.resolve(from.relativize(source)));
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Path copy = to.resolve(from.relativize(file));
                if (attributes.isSymbolicLink()) {
                    Files.createSymbolicLink(copy, Files.readSymbolicLink(file));
                    return FileVisitResult.CONTINUE;
                }
                try {
                    Files.createLink(copy, file);
                } catch (IOException | UnsupportedOperationException e) {
                    Files.copy(file, copy, StandardCopyOption.COPY_ATTRIBUTES);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        Files.createDirectory(
                to.resolve("etc"), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    }

    /** Writes a file of the tree's own system configuration. */
    void configure(String name, String text) throws IOException {
        Path file = folder.resolve("tree").resolve("etc").resolve(name);
        Files.writeString(file, text);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
    }

    /** Starts {@code nemo-relay} of the copy with this addition to its environment; it does not outlive the calling thread. */
    synchronized Child start(String name, Map<String, String> more, String... arguments) throws IOException {
        if (closed) {
            throw new DemoFailure("the demo was stopped");
        }
        List<String> command = new ArrayList<>();
        if (Files.isExecutable(SETPRIV)) {
            command.addAll(List.of(SETPRIV.toString(), "--pdeathsig", "TERM", "--"));
        }
        command.add(folder.resolve("tree/bin/nemo-relay").toString());
        command.addAll(List.of(arguments));
        Path errors = folder.resolve("log").resolve(name + ".log");
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
        Map<String, String> own = builder.environment();
        own.clear();
        environment.forEach((key, value) -> {
            if (!key.startsWith("NEMO_RELAY_") && !key.startsWith("XDG_")) {
                own.put(key, value);
            }
        });
        own.put("HOME", home().toString());
        own.put("TMPDIR", folder.resolve("tmp").toString());
        own.put("NEMO_RELAY_LOG", "info");
        own.putAll(more);
        Child child = new Child(name, builder.start(), errors);
        children.add(child);
        return child;
    }

    /** Processes that run from the copied tree, whoever started them. */
    List<ProcessHandle> running() {
        String tree = folder.resolve("tree") + "/";
        return ProcessHandle.allProcesses()
                .filter(process -> process.info().command().orElse("").startsWith(tree)
                        || process.info().commandLine().orElse("").contains(tree))
                .toList();
    }

    /** What the processes wrote to standard error, for people who look for a reason. */
    List<String> log() {
        List<String> lines = new ArrayList<>();
        for (Child child : children) {
            try {
                Files.readAllLines(child.errors).forEach(line -> lines.add(child.name + ": " + line));
            } catch (IOException e) {
                lines.add(child.name + ": " + Reasons.of(e));
            }
        }
        return lines;
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        List<ProcessHandle> left = running();
        left.forEach(ProcessHandle::destroy);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(GENTLE_SECONDS);
        for (ProcessHandle process : left) {
            try {
                process.onExit().get(Math.max(1, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (java.util.concurrent.ExecutionException | java.util.concurrent.TimeoutException e) {
                process.destroyForcibly();
            }
        }
        running().forEach(ProcessHandle::destroyForcibly);
        try {
            delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException("the demo's folder " + folder + " cannot be removed", e);
        }
    }

    private static void delete(Path folder) throws IOException {
        Files.walkFileTree(folder, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
                if (e instanceof NoSuchFileException) {
                    return FileVisitResult.CONTINUE; // A process that ends removes its own files.
                }
                throw e;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, IOException e) throws IOException {
                Files.deleteIfExists(visited);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
