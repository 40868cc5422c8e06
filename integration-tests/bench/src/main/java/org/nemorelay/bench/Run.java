package org.nemorelay.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.nemorelay.it.ProcessTable;

/** One run of a benchmark. When it ends, by SIGTERM or SIGINT too, what it has started is killed and its folder deleted. */
final class Run {
    private Run() {}

    /** @return the folder for its files and the homes of its users */
    static Path begin(String name) throws IOException {
        Path folder = Files.createTempDirectory(name);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> end(folder)));
        return folder;
    }

    private static void end(Path folder) {
        // The run goes on meanwhile and may start more, as may what it has started.
        while (kill(folder)) {
            Thread.onSpinWait();
        }
        try {
            new ProcessBuilder("rm", "-rf", folder.toString()).start().waitFor();
        } catch (IOException e) {
            System.err.println(folder + " was not deleted: " + e.getMessage());
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A worker is no descendant, for it has a session of its own; its user's home is in the folder. */
    private static boolean kill(Path folder) {
        Stream<ProcessHandle> own = ProcessHandle.current().descendants();
        Stream<ProcessHandle> others = ProcessTable.mentioning(folder.toString()).stream()
                .flatMap(entry -> ProcessHandle.of(entry.pid()).stream());
        return Stream.concat(own, others).filter(ProcessHandle::destroyForcibly).count() > 0;
    }
}
