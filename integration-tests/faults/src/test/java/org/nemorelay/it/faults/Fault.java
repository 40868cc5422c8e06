package org.nemorelay.it.faults;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.nemorelay.it.Maker;

/**
 * An entry of the matrix: who is killed in which state, and when the user's next session begins where the kill has ended
 * the last one. What it has to come to is said here by rule (relay-daemon 5.3, 5.8, 5.9 and 7), for each entry alike.
 */
record Fault(Maker maker, State state, Set<Victim> victims, Next next) {
    /** When a user who has lost his session starts another. */
    enum Next {
        /** While his worker may still be there. */
        AT_ONCE,
        /** After everything of his has ended by itself. */
        LATER
    }

    /** What there is when nothing moves any more. */
    enum Ending {
        /** The worker of before serves. */
        SAME_WORKER,
        /** One worker serves, which is not the one of before. */
        ANOTHER_WORKER,
        /** One worker serves; whether the last one is in time to be kept, nobody can say. */
        ONE_WORKER,
        /** No worker, no client and no route. */
        NOBODY
    }

    Fault {
        // A session that goes on needs no next one.
        next = sessionLives(victims) ? Next.LATER : next;
    }

    /** Every state, with each process that there is in it, alone and in pairs. */
    static List<Fault> matrix(Maker maker) {
        List<Fault> entries = new ArrayList<>();
        for (State state : State.values()) {
            for (Victim one : state.present(maker)) {
                for (Victim other : state.present(maker)) {
                    if (one.compareTo(other) <= 0) {
                        Fault entry = new Fault(maker, state, EnumSet.of(one, other), Next.LATER);
                        entries.add(entry);
                        if (!entry.sessionLives()) {
                            entries.add(new Fault(maker, state, entry.victims, Next.AT_ONCE));
                        }
                    }
                }
            }
        }
        return entries;
    }

    /** What came of entries, as a table for each program: a row for each kill, a column for each state. */
    static String table(Map<Fault, String> results) {
        StringBuilder table = new StringBuilder();
        for (Maker maker : Maker.values()) {
            Map<Set<Victim>, Map<State, String>> rows = new LinkedHashMap<>();
            for (Fault entry : matrix(maker)) {
                rows.computeIfAbsent(entry.victims, victims -> new EnumMap<>(State.class))
                        .merge(
                                entry.state,
                                entry.ending() + ": " + results.getOrDefault(entry, "not run"),
                                (one, other) -> one + ", " + other);
            }
            table.append("\n| ").append(maker);
            row(table, Stream.of(State.values()).map(State::name));
            row(table.append("| ---"), Stream.of(State.values()).map(state -> "---"));
            rows.forEach((victims, cells) -> row(
                    table.append("| ").append(names(victims)),
                    Stream.of(State.values()).map(state -> cells.getOrDefault(state, "no such process"))));
        }
        return table.toString();
    }

    private static void row(StringBuilder table, Stream<String> cells) {
        cells.forEach(cell -> table.append(" | ").append(cell));
        table.append(" |\n");
    }

    private static String names(Set<Victim> victims) {
        return victims.stream().map(Victim::name).collect(Collectors.joining("+"));
    }

    boolean sessionLives() {
        return sessionLives(victims);
    }

    private static boolean sessionLives(Set<Victim> victims) {
        return !victims.contains(Victim.MCP) && !victims.contains(Victim.HARNESS);
    }

    Ending ending() {
        if (!sessionLives()) {
            return next == Next.LATER ? Ending.NOBODY : Ending.ONE_WORKER;
        }
        if (state == State.PASS_THROUGH) {
            // The next try may be under way, and finds what it starts with mended or not.
            return Ending.ONE_WORKER;
        }
        boolean workerDied = victims.contains(Victim.WORKER);
        boolean kept = switch (state) {
            // A client whose daemon is another one leaves the launch of the last.
            case ACTIVATING -> !workerDied && !victims.contains(Victim.DAEMON);
            // A daemon that is started again takes back the worker of the one before.
            case READY, RECOVERING -> !workerDied;
            // Draining never revives, and without a client there is none.
            case EMPTY, DRAINING, PASS_THROUGH -> false;
        };
        return kept ? Ending.SAME_WORKER : Ending.ANOTHER_WORKER;
    }

    /** Whether a stream that runs at the time of the kill reaches its end. */
    boolean streamSurvives() {
        boolean throughWorker = state == State.READY;
        return !victims.contains(Victim.DAEMON)
                && !victims.contains(Victim.PROVIDER)
                && !(throughWorker && victims.contains(Victim.WORKER));
    }

    /** Whether the stream for whose end a draining worker lives reaches it. */
    boolean drainingStreamSurvives() {
        return !victims.contains(Victim.WORKER)
                && !victims.contains(Victim.DAEMON)
                && !victims.contains(Victim.PROVIDER);
    }

    /**
     * Whether short requests at the time of the kill, and right after it, are all answered: what comes to a worker beside its
     * drain may be refused, and a session that dies makes its worker drain.
     */
    boolean requestsSurvive() {
        return streamSurvives() && (sessionLives() || state != State.READY);
    }

    @Override
    public String toString() {
        return maker + " " + state + " " + names(victims) + (sessionLives() ? "" : " " + next) + " -> " + ending();
    }
}
