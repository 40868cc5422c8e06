package org.nemorelay.broker;

import static org.nemorelay.broker.WorldRules.holds;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.nemorelay.broker.StagedWorker.Permit;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.LaunchGrant;

/** An identity of the {@link World}: its sessions and worker processes, its requests, and what is on disk of it. */
final class WorldUser {
    private static final int REMEMBERED = 2;

    /** A harness session's lifecycle client. */
    static final class Mcp {
        final String id;
        boolean connected = true;
        /** The daemon has it in its tables; not so after a restart, until it returns. */
        boolean known = true;

        Directive told = Lifecycle.WAIT;

        Mcp(String id) {
            this.id = id;
        }
    }

    /** A worker process that has registered. */
    static final class Process {
        final String id;
        final String generation;
        Permit permit;
        boolean connected = true;
        boolean published;
        boolean toldToDrain;
        /** It knows that it drains, and does not come back. */
        boolean acknowledged;
        /** This daemon knows that it knows. */
        boolean heard;
        /** It leaves, and ends when it is let go. */
        boolean leaving;
        /** When its drain ends at the latest; never for one that does not drain. */
        long drainDeadline = Long.MAX_VALUE;

        Process(String id, String generation, Permit permit) {
            this.id = id;
            this.generation = generation;
            this.permit = permit;
        }
    }

    /** A generation on its way to the disk: its worker is published when it is there. */
    record Write(Process process, Generation generation) {}

    /** What is on disk of a worker that drains. */
    record Drain(String generation, String workerId, long deadline) {}

    /** A request under way, with the destination that it was given. */
    record Request(WorkerLease lease, String workerId, String dataToken, String generation) {}

    final int index;
    final List<Mcp> sessions = new ArrayList<>();
    final List<Process> processes = new ArrayList<>();
    final List<Request> requests = new ArrayList<>();
    Optional<Generation> disk = Optional.empty();
    /** In the order in which they come to the disk. */
    final List<Write> writes = new ArrayList<>();

    Optional<Drain> draining = Optional.empty();
    Optional<LaunchGrant> grant = Optional.empty();
    Optional<String> routable = Optional.empty();
    /** Grants that were withdrawn or used, workers that the daemon has given up. */
    final List<LaunchGrant> revoked = new ArrayList<>();

    final List<Process> gone = new ArrayList<>();

    WorldUser(int index) {
        this.index = index;
    }

    /** Whether its generation is on disk: it has been published and does not drain. */
    boolean recorded(Process process) {
        return disk.filter(generation -> generation.generationId().equals(process.generation))
                .isPresent();
    }

    /** The worker of a drain whose process has ended before the daemon could know. */
    Optional<String> deadWhileDraining() {
        return draining.map(Drain::workerId).filter(id -> process(id).isEmpty());
    }

    boolean staged() {
        return processes.stream().anyMatch(process -> process.connected && !process.published && !process.toldToDrain);
    }

    boolean beingWritten(Process process) {
        return writes.stream().anyMatch(write -> write.process == process);
    }

    /** Recorded and not published: it went, or was cancelled, in between. */
    boolean recordedAhead(Route route) {
        return route.state instanceof State.Activating activating
                && activating
                        .staged
                        .filter(worker -> disk.filter(
                                        generation -> generation.generationId().equals(worker.generationId))
                                .isPresent())
                        .isPresent();
    }

    void unroutable(String workerId) {
        routable = routable.filter(id -> !id.equals(workerId));
    }

    Optional<Process> process(String id) {
        for (Process process : processes) {
            if (process.id.equals(id)) {
                return Optional.of(process);
            }
        }
        return Optional.empty();
    }

    void published(Transition.WorkerPublished published) {
        holds(routable.isEmpty(), "one routable worker per route");
        routable = Optional.of(published.workerId());
        grant.ifPresent(grant -> remember(revoked, grant));
        grant = Optional.empty();
        Process process = process(published.workerId())
                .orElseThrow(() -> new AssertionError("a worker was published that the daemon had given up"));
        holds(process.drainDeadline == Long.MAX_VALUE, "a draining worker is never ready");
        process.published = true;
    }

    void lost(String workerId, String generationId) {
        unroutable(workerId);
        disk = disk.filter(generation -> !generation.generationId().equals(generationId));
        process(workerId).ifPresent(process -> dropped(process));
    }

    void dropped(Process process) {
        process.connected = false;
        processes.remove(process);
        remember(gone, process);
    }

    boolean exited(Process process) {
        return process.heard && !process.connected && requests(process.id) == 0;
    }

    long requests(String workerId) {
        long count = 0;
        for (Request request : requests) {
            if (request.workerId.equals(workerId)) {
                count++;
            }
        }
        return count;
    }

    void withdrawn(String activationId, Optional<String> stagedWorkerId) {
        grant.filter(grant -> grant.activationId().equals(activationId)).ifPresent(grant -> remember(revoked, grant));
        grant = Optional.empty();
        stagedWorkerId.ifPresent(id -> {
            disk = disk.filter(generation -> !generation.generationId().equals(World.generationOf(id)));
            process(id).ifPresent(process -> dropped(process));
        });
    }

    static <T> void remember(List<T> list, T item) {
        list.add(item);
        if (list.size() > REMEMBERED) {
            list.removeFirst();
        }
    }
}
