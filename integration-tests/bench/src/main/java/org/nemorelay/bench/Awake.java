package org.nemorelay.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Keeps every processor awake by a task of the lowest class (SCHED_IDLE), which yields to all others at once. To wake a core
 * that sleeps costs a request more than most of what is measured, so whatever works beside a request, and keeps a core awake
 * by that, would seem to make it faster.
 */
final class Awake implements AutoCloseable {
    private final List<Process> tasks = new ArrayList<>();

    /** Starts the tasks, which also end when this process does; without taskset and chrt (util-linux) there are none. */
    Awake() {
        String loop = "while [ -d /proc/" + ProcessHandle.current().pid()
                + " ]; do i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; done";
        try {
            for (int core = 0; core < Runtime.getRuntime().availableProcessors(); core++) {
                tasks.add(new ProcessBuilder(
                                "taskset", "-c", Integer.toString(core), "chrt", "--idle", "0", "sh", "-c", loop)
                        .inheritIO()
                        .start());
            }
        } catch (IOException e) {
            System.err.println("cores are not kept awake: " + e.getMessage());
        }
    }

    int cores() {
        return tasks.size();
    }

    @Override
    public void close() {
        tasks.forEach(Process::destroyForcibly);
    }
}
