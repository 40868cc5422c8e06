package org.nemorelay.it.carriers;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The processes of a soak and what they say together. */
final class Fleet implements AutoCloseable {
    /** @param counts of all processes, added up */
    record Result(Map<String, Long> counts, int accepted, int lost, int doubledJobs, List<String> ends) {
        long count(String name) {
            return counts.getOrDefault(name, 0L);
        }
    }

    private final List<Member> members = new ArrayList<>();

    Fleet(Path folder, int processes, String carrier, List<String> instances) {
        for (int i = 0; i < processes; i++) {
            members.add(new Member(folder.resolve("p" + i), i, processes, carrier, instances));
        }
        members.forEach(member -> member.expect("ready", member.answer()));
        all(member -> member.order("warm"));
    }

    /** One process. */
    static final class Member {
        private final Path folder;
        private final Process process;
        private final BufferedWriter commands;
        private final BufferedReader answers;

        private Member(Path folder, int index, int processes, String carrier, List<String> instances) {
            this.folder = folder;
            try {
                Files.createDirectories(folder);
                List<String> command = new ArrayList<>(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-Xmx256m",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        SoakProcess.class.getName(),
                        folder.toString(),
                        System.getProperty("carrier.nats.bundle"),
                        Integer.toString(index),
                        Integer.toString(processes),
                        carrier));
                command.addAll(instances);
                process = new ProcessBuilder(command)
                        .redirectError(folder.resolve("stderr").toFile())
                        .start();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            commands = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
            answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        }

        private String answer() {
            try {
                String line = answers.readLine();
                if (line == null) {
                    throw new AssertionError("a process ended: " + Files.readString(folder.resolve("stderr")));
                }
                return line;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private void expect(String wanted, String answer) {
            if (!answer.equals(wanted)) {
                try {
                    throw new AssertionError(
                            folder.getFileName() + ": " + answer + "\n" + Files.readString(folder.resolve("stderr")));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }

        String ask(String command) {
            try {
                commands.write(command + "\n");
                commands.flush();
                return answer();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        void order(String command) {
            expect("ok", ask(command));
        }

        private List<Long> numbers(String file) {
            try {
                return Files.readAllLines(folder.resolve(file)).stream()
                        .map(Long::valueOf)
                        .toList();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Does it with every process at the same time. */
    void all(Consumer<Member> action) {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<CompletableFuture<Void>> done = members.stream()
                    .map(member -> CompletableFuture.runAsync(() -> action.accept(member), threads))
                    .toList();
            for (CompletableFuture<Void> each : done) {
                try {
                    each.get();
                } catch (ExecutionException e) {
                    throw new AssertionError(e.getCause().getMessage(), e.getCause());
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        }
    }

    /** Ends the traffic, waits for what is on its way, and counts. */
    Result finish() {
        Map<Member, String> published = new java.util.concurrent.ConcurrentHashMap<>();
        all(member -> published.put(member, member.ask("stop")));
        String expected = members.stream().map(published::get).collect(Collectors.joining(" "));
        all(member -> member.order("expect " + expected));
        Set<Long> accepted = new HashSet<>();
        List<Long> ran = new ArrayList<>();
        // A job that was accepted last may still run.
        for (int i = 0; i < 100; i++) {
            all(member -> member.order("jobs"));
            accepted.clear();
            ran.clear();
            members.forEach(member -> accepted.addAll(member.numbers("accepted")));
            members.forEach(member -> ran.addAll(member.numbers("ran")));
            if (ran.size() >= accepted.size()) {
                break;
            }
            try {
                Thread.sleep(50);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
        Set<Long> once = new HashSet<>(ran);
        int lost = (int) accepted.stream().filter(job -> !once.contains(job)).count();
        Map<String, Long> counts = new HashMap<>();
        for (Member member : members) {
            String line = member.ask("counts");
            for (String entry : line.substring(1, line.length() - 1).split(", ")) {
                String[] parts = entry.split("=", 2);
                if (parts[1].matches("\\d+")) {
                    counts.merge(parts[0], Long.valueOf(parts[1]), parts[0].endsWith("peak") ? Math::max : Long::sum);
                } else {
                    System.err.println(entry);
                }
            }
        }
        List<String> ends = new java.util.concurrent.CopyOnWriteArrayList<>();
        all(member -> ends.add(member.ask("end")));
        return new Result(counts, accepted.size(), lost, ran.size() - once.size(), ends);
    }

    int size() {
        return members.size();
    }

    IntStream indexes() {
        return IntStream.range(0, members.size());
    }

    Member member(int index) {
        return members.get(index);
    }

    @Override
    public void close() {
        members.forEach(member -> member.process.destroyForcibly());
    }
}
