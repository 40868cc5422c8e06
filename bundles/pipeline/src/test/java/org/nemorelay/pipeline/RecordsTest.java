package org.nemorelay.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.json.Json;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.plugin.api.EventMetadataInjector;
import org.nemorelay.plugin.api.EventSanitizer;

/** What is recorded: sanitizers fail closed, injectors open. */
@Timeout(30)
class RecordsTest {
    private static final Event EVENT = Event.of(Map.of(
            "kind", "mark",
            "atof_version", "0.1",
            "uuid", "u",
            "timestamp", "2026-11-30T00:00:00+00:00",
            "name", "n",
            "metadata", Map.of("note", "secret"),
            "data", Map.of("text", "secret")));

    private final Rig rig = new Rig();

    @AfterEach
    void close() {
        rig.close();
    }

    private Event recorded(List<Stage<EventMetadataInjector>> injectors, List<Stage<EventSanitizer>> sanitizers)
            throws Exception {
        return Records.process(new Stages(List.of(), List.of(), List.of(), List.of(), injectors, sanitizers), EVENT)
                .get(10, TimeUnit.SECONDS);
    }

    @Test
    void aSanitizerThatGoesWrongLeavesNothingToRecord() throws Exception {
        List<EventSanitizer> wrong = List.of(
                event -> {
                    throw new IllegalStateException("boom");
                },
                event -> CompletableFuture.failedStage(new IllegalStateException("boom")),
                event -> CompletableFuture.completedStage(null),
                event -> null,
                event -> {
                    throw new NoClassDefFoundError("x");
                },
                event -> {
                    Map<String, Object> other = new TreeMap<>(event.values());
                    other.put("name", "another");
                    return CompletableFuture.completedStage(Event.of(other));
                });
        for (EventSanitizer each : wrong) {
            List<Event> later = new ArrayList<>();
            Event recorded = recorded(
                    List.of(),
                    List.of(
                            rig.stage("bad", each, 1, false),
                            rig.stage(
                                    "later",
                                    event -> {
                                        later.add(event);
                                        return CompletableFuture.completedStage(event);
                                    },
                                    2,
                                    false)));
            assertEquals("n", recorded.name());
            assertEquals(Optional.empty(), recorded.data());
            assertEquals(-1, recorded.toJsonLine().indexOf("secret"), recorded.toJsonLine());
            assertEquals(List.of(), later);
        }
        assertEquals(wrong.size(), rig.log.size(), rig.log.toString());
        assertTrue(rig.log.get(2).endsWith(": its stage completed with null"), rig.log.get(2));
        assertTrue(rig.log.get(3).endsWith(": it returned null"), rig.log.get(3));
    }

    @Test
    void aNumberIsANumberWhateverItsType() throws Exception {
        Event recorded = recorded(
                List.of(rig.stage(
                        "a",
                        event -> CompletableFuture.completedStage(
                                Map.of("double", 0.5, "float", 0.1f, "list", List.of(1, 2.5))),
                        1,
                        false)),
                List.of(rig.stage(
                        "b",
                        event -> CompletableFuture.completedStage(event.withData(Map.of("score", 1e-3))),
                        1,
                        false)));
        assertEquals(
                "{\"double\":0.5,\"float\":0.1,\"list\":[1,2.5],\"note\":\"secret\"}", Json.write(recorded.metadata()));
        assertEquals("{\"score\":0.001}", Json.write(recorded.data().orElseThrow()));
        for (double none : new double[] {Double.NaN, Double.POSITIVE_INFINITY}) {
            assertEquals(
                    Map.of("note", "secret"),
                    recorded(
                                    List.of(rig.stage(
                                            "a",
                                            event -> CompletableFuture.completedStage(Map.of("x", none)),
                                            1,
                                            false)),
                                    List.of())
                            .metadata()
                            .values());
        }
    }

    @Test
    void anInjectorThatGoesWrongKeepsNothingOut() throws Exception {
        List<EventMetadataInjector> wrong = List.of(
                event -> {
                    throw new IllegalStateException("boom");
                },
                event -> CompletableFuture.completedStage(null),
                event -> CompletableFuture.completedStage(Map.of("not a key", "x")),
                event -> CompletableFuture.completedStage(Map.of("key", new Object())));
        for (EventMetadataInjector each : wrong) {
            Event recorded = recorded(
                    List.of(
                            rig.stage("bad", each, 1, false),
                            rig.stage(
                                    "good",
                                    event -> CompletableFuture.completedStage(Map.of("team", "blue", "note", "mine")),
                                    2,
                                    false)),
                    List.of());
            assertEquals(
                    Map.of("note", "secret", "team", "blue"),
                    recorded.metadata().values());
            assertEquals(EVENT.data(), recorded.data());
        }
    }
}
