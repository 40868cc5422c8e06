package org.nemorelay.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.protocol.Digest;
import org.nemorelay.protocol.Fingerprint;

class GenerationFileTest {
    @TempDir
    Path temp;

    private Path file() {
        return temp.resolve("daemon/active-worker-generations.json");
    }

    private GenerationFile open() {
        return StateFolder.at(temp).generations(0);
    }

    private static <T> T made(GenerationFile file, GenerationChange<T> change) {
        file.update(List.of(change));
        return change.answer();
    }

    @Test
    void case104SurvivesARestart() throws IOException {
        GenerationFile file = open();
        Generation two = new Generation(user(2), "g2", Optional.of("a2"));
        Generation one = new Generation(user(1), "g1", Optional.empty());
        assertEquals(Optional.empty(), made(file, GenerationChange.publish(two)));
        assertEquals(Optional.empty(), made(file, GenerationChange.publish(one)));
        GenerationFile again = open();
        assertEquals(List.of(one, two), again.snapshot());
        assertTrue(again.matches(user(1), "g1"));
        assertFalse(again.matches(user(1), "g2"));
        assertEquals(Optional.of("a2"), again.launchActivation(user(2), "g2"));
        assertEquals(Optional.empty(), again.launchActivation(user(2), "g1"));
        assertEquals("rw-------", Folders.mode(file()));
        assertTrue(Files.readString(file()).startsWith("{\"schema_version\":1,\"generations\":[{\"fingerprint\":[1,"));
        assertFalse(Files.readString(file()).contains("null"));
    }

    @Test
    void whatAKilledWriterHasLeftGoesAtTheNextStart() throws IOException {
        GenerationFile file = open();
        Generation one = new Generation(user(1), "g1", Optional.empty());
        made(file, GenerationChange.publish(one));
        Path unfinished = file().resolveSibling("." + file().getFileName() + ".0192-half.tmp");
        Path another = file().resolveSibling(".machine-identity.pk8.0192-half.tmp");
        Files.writeString(unfinished, "{\"schema");
        Files.writeString(another, "somebody else may be writing it");
        assertEquals(List.of(one), open().snapshot());
        assertFalse(Files.exists(unfinished));
        assertTrue(Files.exists(another));
    }

    @Test
    void case104CompareAndSet() {
        GenerationFile file = open();
        Generation old = new Generation(user(1), "old", Optional.of("a"));
        Generation fresh = new Generation(user(1), "fresh", Optional.of("b"));
        made(file, GenerationChange.publish(old));
        assertEquals(Optional.of(old), made(file, GenerationChange.publish(fresh)));
        assertFalse(made(file, GenerationChange.restore(old, Optional.empty())));
        assertTrue(made(file, GenerationChange.restore(fresh, Optional.of(old))));
        assertEquals(List.of(old), file.snapshot());
        assertFalse(made(file, GenerationChange.revoke(user(1), "fresh")));
        assertTrue(made(file, GenerationChange.revoke(user(1), "old")));
        assertFalse(made(file, GenerationChange.revoke(user(1), "old")));
        made(file, GenerationChange.publish(fresh));
        assertTrue(made(file, GenerationChange.restore(fresh, Optional.empty())));
        assertEquals(List.of(), file.snapshot());
    }

    @Test
    void aWorkerThatDrainsIsKeptBesideTheFileThatOthersRead() throws IOException {
        GenerationFile file = open();
        Generation served = new Generation(user(1), "g1", Optional.of("a"));
        DrainingWorker drains = new DrainingWorker(user(1), "g1", "w1", "http://127.0.0.1:4000", 1_800_000_000_000L);
        assertFalse(made(file, GenerationChange.drain(drains)), "it does not serve");
        made(file, GenerationChange.publish(served));
        assertTrue(made(file, GenerationChange.drain(drains)));
        assertEquals("{\"schema_version\":1,\"generations\":[]}", Files.readString(file()));
        assertEquals("rw-------", Folders.mode(temp.resolve("daemon/draining-workers.json")));
        assertEquals(List.of(), open().snapshot());
        assertEquals(List.of(drains), open().draining());
        assertFalse(made(file, GenerationChange.revoke(user(1), "another")));
        assertTrue(made(file, GenerationChange.revoke(user(1), "g1")));
        assertEquals(List.of(), open().draining());
    }

    @Test
    void ofACrashBetweenTheFilesTheDrainStaysAndALaterGenerationEndsIt() throws IOException {
        GenerationFile file = open();
        made(file, GenerationChange.publish(new Generation(user(1), "g1", Optional.empty())));
        String served = Files.readString(file());
        made(file, GenerationChange.drain(new DrainingWorker(user(1), "g1", "w1", "http://127.0.0.1:4000", 5)));
        put(served);
        assertEquals(List.of(), open().snapshot(), "what drains does not serve");
        assertEquals("g1", open().draining().getFirst().generationId());
        Generation next = new Generation(user(1), "g2", Optional.empty());
        made(file, GenerationChange.publish(next));
        assertEquals(List.of(next), open().snapshot());
        assertEquals(List.of(), open().draining());
    }

    @Test
    void aFileOfDrainsThatIsNotUnderstoodIsRefused() throws IOException {
        open();
        Files.writeString(temp.resolve("daemon/draining-workers.json"), "{\"schema_version\":1,\"draining\":[{}]}");
        assertTrue(Folders.failure(this::open).contains("draining-workers.json"));
    }

    @Test
    void anEndpointAtWhichNoWorkerCanBeIsRefused() throws IOException {
        GenerationFile file = open();
        made(file, GenerationChange.publish(new Generation(user(1), "g1", Optional.empty())));
        made(file, GenerationChange.drain(new DrainingWorker(user(1), "g1", "w1", "http://127.0.0.1:4000", 5)));
        Path drains = temp.resolve("daemon/draining-workers.json");
        String valid = Files.readString(drains);
        for (String endpoint : List.of(
                "nope",
                "ftp://127.0.0.1:4000",
                "http://127.0.0.1",
                "http://127.0.0.1:0",
                "http://127.0.0.1:65536",
                "//127.0.0.1:4000",
                "http://:4000",
                "http://a b:4000")) {
            Files.writeString(drains, valid.replace("http://127.0.0.1:4000", endpoint));
            assertTrue(
                    Folders.failure(this::open)
                            .contains(
                                    "draining-workers.json is not a valid draining file (an endpoint must be an absolute"
                                            + " http or https URL with a host and a port); restore it, or remove it"),
                    endpoint);
        }
        Files.writeString(drains, valid.replace("http://127.0.0.1:4000", "https://host-1.example:65535"));
        assertEquals(
                "https://host-1.example:65535", open().draining().getFirst().endpoint());
    }

    /** Each of two daemons of one account has its records, in whatever order they start again. */
    @Test
    void daemonsOnTwoPortsDoNotShareARecord() throws IOException {
        StateFolder folder = StateFolder.at(temp);
        Generation first = new Generation(user(1), "g1", Optional.empty());
        Generation second = new Generation(user(1), "g2", Optional.empty());
        made(folder.generations(4001), GenerationChange.publish(first));
        made(folder.generations(4002), GenerationChange.publish(second));
        assertEquals(List.of(), folder.generations(4003).snapshot());
        assertEquals(List.of(second), folder.generations(4002).snapshot());
        assertEquals(List.of(first), folder.generations(4001).snapshot());
        assertTrue(Files.readString(file()).contains("g1"), "the first has the name that the stock program knows");
        assertTrue(Files.exists(file().resolveSibling("active-worker-generations-4002.json")));
    }

    @Test
    void aSeatIsHadByOneAtATime() {
        StateFolder folder = StateFolder.at(temp);
        assertEquals(Optional.empty(), folder.seated(4001));
        DaemonSeat seat = folder.seat(4001);
        assertEquals(
                "this account's daemon on port 4001 is running already (pid "
                        + ProcessHandle.current().pid() + "); stop it, or give one of the two another port",
                Folders.failure(() -> folder.seat(4001)));
        folder.seat(4002).close();
        seat.close();
        folder.seat(4001).close();
        assertEquals(Optional.empty(), folder.seated(4001));
    }

    @Test
    void aGroupIsOneWriteAndARefusedChangeLeavesTheOthersAlone() throws IOException {
        AtomicInteger writes = new AtomicInteger();
        GenerationFile file = StateFolder.at(temp)
                .generations(0, new PrivateFiles(EffectiveUser.current(), channel -> writes.incrementAndGet()));
        List<GenerationChange<Optional<Generation>>> group = IntStream.rangeClosed(0, 4_096)
                .mapToObj(i -> GenerationChange.publish(new Generation(
                        new Fingerprint(Digest.sha256(new byte[] {(byte) (i >> 8), (byte) i})), "g", Optional.empty())))
                .toList();
        file.update(group);
        assertEquals(2, writes.get(), "the file and its folder");
        assertEquals(Optional.empty(), group.get(4_095).answer());
        assertTrue(Folders.failure(() -> group.get(4_096).answer()).contains("4096"));
        assertEquals(4_096, open().snapshot().size());
        GenerationChange<Boolean> nothing = GenerationChange.revoke(user(1), "unknown");
        file.update(List.of(nothing));
        assertFalse(nothing.answer());
        assertEquals(2, writes.get(), "what changes nothing is not written");
    }

    @Test
    void case104ReadsTheFileOfTheStockBinaryAndOlderOnes() throws IOException {
        put("{\"schema_version\":1,\"generations\":[{\"fingerprint\":" + numbers(3)
                + ",\"generation_id\":\"GBVll32CT4QLTtZjbPsk6w\"}]}");
        assertEquals(List.of(new Generation(user(3), "GBVll32CT4QLTtZjbPsk6w", Optional.empty())), open().snapshot());
    }

    @Test
    void case104WhatIsNotUnderstoodIsRefusedAndKept() throws IOException {
        String entry = "{\"fingerprint\":" + numbers(3) + ",\"generation_id\":\"g\"}";
        String tooMany = IntStream.range(0, 4097)
                .mapToObj(i -> "{\"fingerprint\":" + entry(i) + ",\"generation_id\":\"g\"}")
                .collect(Collectors.joining(","));
        for (String bad : List.of(
                "",
                "{",
                "[]",
                "{\"schema_version\":2,\"generations\":[]}",
                "{\"schema_version\":1}",
                "{\"schema_version\":1,\"generations\":[],\"x\":1}",
                "{\"schema_version\":1,\"generations\":[" + entry + "," + entry + "]}",
                "{\"schema_version\":1,\"generations\":[{\"fingerprint\":[1],\"generation_id\":\"g\"}]}",
                "{\"schema_version\":1,\"generations\":[{\"fingerprint\":" + numbers(3) + ",\"generation_id\":\"\"}]}",
                "{\"schema_version\":1,\"generations\":[" + tooMany + "]}",
                " ".repeat(2 * 1024 * 1024 + 1))) {
            put(bad);
            assertTrue(Folders.failure(this::open).contains("active-worker-generations.json"));
            assertEquals(bad.length(), Files.size(file()));
        }
    }

    @Test
    void aLinkIsRefused() throws IOException {
        put("{\"schema_version\":1,\"generations\":[]}");
        Files.move(file(), temp.resolve("elsewhere"));
        Files.createSymbolicLink(file(), temp.resolve("elsewhere"));
        assertTrue(Folders.failure(this::open).contains("link"));
    }

    private void put(String text) throws IOException {
        Files.createDirectories(file().getParent());
        Files.writeString(file(), text);
    }

    private static Fingerprint user(int value) {
        byte[] bytes = new byte[32];
        Arrays.fill(bytes, (byte) value);
        return new Fingerprint(Digest.of(bytes));
    }

    private static String numbers(int value) {
        return IntStream.range(0, 32).mapToObj(i -> "" + value).collect(Collectors.joining(",", "[", "]"));
    }

    private static String entry(int index) {
        return "[" + index / 256 + "," + index % 256 + ",0".repeat(30) + "]";
    }

    @Test
    void aNewerOneIsToldAsThat() throws IOException {
        put("{\"schema_version\":2,\"generations\":[]}");
        String refusal = Folders.failure(this::open);
        assertTrue(refusal.contains("(schema_version is 2, of a newer daemon; this one knows 1)"), refusal);
    }
}
