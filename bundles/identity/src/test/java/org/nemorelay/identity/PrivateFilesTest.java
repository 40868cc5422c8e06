package org.nemorelay.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/** How state files are replaced and locked (relay-daemon 4.3). */
class PrivateFilesTest {
    private static final byte[] OLD = "old".repeat(20_000).getBytes(StandardCharsets.UTF_8);
    private static final byte[] NEW = "newer".repeat(30_000).getBytes(StandardCharsets.UTF_8);

    @TempDir
    Path folder;

    private PrivateFiles files() throws IOException {
        return files(channel -> channel.force(false));
    }

    private PrivateFiles files(PrivateFiles.Disk disk) throws IOException {
        return new PrivateFiles(new EffectiveUser((Integer) Files.getAttribute(folder, "unix:uid")), disk);
    }

    private List<String> names() throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void aFullDiskLeavesTheOldFileAndNothingElse() throws IOException {
        Path file = folder.resolve("state.json");
        files().write(file, OLD);
        PrivateFiles full = files(channel -> {
            throw new IOException("No space left on device");
        });
        RelayException failure = assertThrows(RelayException.class, () -> full.write(file, NEW));
        assertEquals(FailureKind.STATE, failure.kind());
        assertEquals(file + " cannot be written: No space left on device", failure.getMessage());
        assertEquals(List.of("state.json"), names());
        assertEquals(OLD.length, Files.size(file));
    }

    @Test
    void whoReadsWhileItIsReplacedSeesOneWholeOrTheOther() throws Exception {
        Path file = folder.resolve("state.json");
        PrivateFiles files = files();
        files.write(file, OLD);
        AtomicBoolean done = new AtomicBoolean();
        CompletableFuture<Integer> reader = CompletableFuture.supplyAsync(() -> {
            int reads = 0;
            while (!done.get() || reads == 0) {
                try {
                    byte[] content = Files.readAllBytes(file);
                    assertTrue(Arrays.equals(content, OLD) || Arrays.equals(content, NEW), content.length + " bytes");
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
                reads++;
            }
            return reads;
        });
        for (int i = 0; i < 200; i++) {
            files.write(file, i % 2 == 0 ? NEW : OLD);
        }
        done.set(true);
        assertTrue(reader.get(60, TimeUnit.SECONDS) > 0);
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    }

    /** Another process: locks of this kind are of processes, not of threads. */
    @Test
    void aLockOfAnotherProcessIsWaitedForForFiveSeconds() throws Exception {
        Path file = folder.resolve("state.json");
        PrivateFiles files = files();
        files.lock(file).close();
        assertEquals(List.of("state.lock"), names());
        Process holder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Holder.class.getName(),
                        folder.resolve("state.lock").toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            assertEquals('h', holder.getInputStream().read());
            long begin = System.nanoTime();
            RelayException failure = assertThrows(RelayException.class, () -> files.lock(file));
            assertEquals(
                    folder.resolve("state.lock") + " is held by another process for more than 5 s",
                    failure.getMessage());
            assertTrue(System.nanoTime() - begin >= 5_000_000_000L);
            CompletableFuture<Void> waiting =
                    CompletableFuture.runAsync(() -> files.lock(file).close());
            holder.getOutputStream().close();
            waiting.get(60, TimeUnit.SECONDS);
        } finally {
            holder.destroyForcibly();
        }
    }

    /** Holds a lock until its input ends. */
    static final class Holder {
        private Holder() {}

        public static void main(String[] arguments) throws IOException {
            try (FileChannel channel = FileChannel.open(Path.of(arguments[0]), StandardOpenOption.WRITE)) {
                channel.lock();
                new FileOutputStream(FileDescriptor.out).write('h');
                new FileInputStream(FileDescriptor.in).readAllBytes();
            }
        }
    }
}
