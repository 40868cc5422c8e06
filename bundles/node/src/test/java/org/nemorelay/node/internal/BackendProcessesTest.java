package org.nemorelay.node.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.nemorelay.node.internal.BackendProcesses.Running;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.seams.UnreachableException;
import org.nemorelay.seams.dial.ModelProber.Finding;
import org.nemorelay.testkit.Await;
import org.nemorelay.testkit.Recorder;

class BackendProcessesTest {
    private final Recorder recorder = new Recorder();
    private final BackendProcesses processes = new BackendProcesses(
            Map.of(
                    "sleeper", new BackendCommand("sleeper", List.of("sh", "-c", "echo at {address}; exec sleep 1000")),
                    "other", new BackendCommand("other", List.of("sh", "-c", "exec sleep 1000 # {address}")),
                    "dying",
                            new BackendCommand(
                                    "dying", List.of("sh", "-c", "echo no licence for {address} >&2; exit 3"))),
            "127.0.0.1",
            "node.example",
            "",
            (context, node, address) -> Finding.ALIVE,
            (node, address, parallel) -> {
                throw new UnreachableException("nobody");
            },
            recorder);

    @AfterEach
    void stop() {
        processes.close();
    }

    @Test
    void oneProcessForEachKey() {
        Running first = processes.ensure("n", "sleeper", "m", 0, false);
        assertTrue(first.address().startsWith("node.example:"), first.address());
        assertEquals(first, processes.ensure("n", "sleeper", "m", 0, false));
        assertNotEquals(
                first.address(), processes.ensure("n", "sleeper", "m", 1, false).address());
        assertEquals(List.of("m#0", "m#1"), processes.keys("sleeper"));
        assertEquals(List.of("m#1"), processes.keys("m#1"));
        assertEquals(List.of("m#0", "m#1"), processes.keys("m"));
        assertEquals(List.of(), processes.keys("other"));
    }

    @Test
    void anotherBackendOrForceTakesTheKeyOver() {
        Running first = processes.ensure("n", "sleeper", "m", 0, false);
        Running forced = processes.ensure("n", "sleeper", "m", 0, true);
        assertNotEquals(first.instance(), forced.instance());
        Running other = processes.ensure("n", "other", "m", 0, false);
        assertNotEquals(forced.instance(), other.instance());
        assertEquals(List.of(other), processes.running());
    }

    @Test
    void aProcessThatDoesNotComeUpIsToldWithItsLastWords() {
        BackendProcesses never = new BackendProcesses(
                Map.of("dying", new BackendCommand("dying", List.of("sh", "-c", "echo no licence >&2; exit 3"))),
                "127.0.0.1",
                "127.0.0.1",
                "",
                (context, node, address) -> Finding.UNREACHABLE,
                (node, address, parallel) -> {
                    throw new UnreachableException("nobody");
                },
                recorder);
        RelayException thrown = assertThrows(RelayException.class, () -> never.ensure("n", "dying", "m", 0, false));
        assertEquals(FailureKind.UPSTREAM, thrown.kind());
        assertTrue(thrown.getMessage().contains("ended at once"), thrown.getMessage());
        RelayException unknown =
                assertThrows(RelayException.class, () -> processes.ensure("n", "nothing", "m", 0, false));
        assertTrue(unknown.getMessage().contains("dying, other, sleeper"), unknown.getMessage());
    }

    @Test
    void stoppingEndsTheProcessAndIsNoWarning() {
        processes.ensure("n", "sleeper", "m", 0, false);
        long children = ProcessHandle.current().children().count();
        assertTrue(processes.stop("m#0", false));
        assertFalse(processes.stop("m#0", false));
        Await.until("it is gone", () -> ProcessHandle.current().children().count() < children);
        assertEquals(
                List.of(),
                recorder.lines().stream()
                        .filter(line -> line.startsWith("WARN"))
                        .toList());
    }

    @Test
    void aProcessThatEndsByItselfIsForgotten() {
        processes.ensure("n", "sleeper", "m", 0, false);
        ProcessHandle.current().children().forEach(ProcessHandle::destroyForcibly);
        Await.until("forgotten", () -> processes.running().isEmpty());
        Await.until(
                "told",
                () -> recorder.lines().stream()
                        .anyMatch(line -> line.startsWith("WARN") && line.contains("ended by itself")));
    }
}
