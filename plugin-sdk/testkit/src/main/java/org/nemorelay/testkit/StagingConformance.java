package org.nemorelay.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.NoRouteException;
import org.nemorelay.seams.NotServedException;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.StagingException;
import org.nemorelay.seams.carrier.Seam;
import org.nemorelay.seams.staging.FileStager;
import org.nemorelay.seams.staging.TransferProgress;

/** Files to and from a worker (distributed-seams 5). */
public abstract class StagingConformance extends Conformance {
    private static final String NODE = "n1";
    private static final Context CONTEXT = Context.background();

    @TempDir
    Path folder;

    private Path local;
    private Path remote;
    private byte[] content;

    @Override
    final Seam seam() {
        return Seam.STAGING;
    }

    @BeforeEach
    void files() throws IOException {
        remote = Files.createDirectories(folder.resolve("node"));
        local = folder.resolve("model.bin");
        content = new byte[300_000];
        new Random(5).nextBytes(content);
        Files.write(local, content);
    }

    private FileStager stager() {
        return rig().here().stager();
    }

    private Registration serve() {
        return rig().serveFiles(NODE, remote);
    }

    @Test
    void aFileIsAtTheWorkerAndItsProgressIsToldToTheEnd() throws IOException {
        AtomicLong moved = new AtomicLong();
        try (Registration _ = serve()) {
            String path = stager().ensureRemote(
                            CONTEXT, NODE, local, "models/m/model.bin", (file, bytes, total) -> moved.set(bytes));
            assertArrayEquals(content, Files.readAllBytes(Path.of(path)));
            assertEquals(content.length, moved.get());
        }
    }

    @Test
    void whatIsThereIsNotSentAgain() {
        AtomicLong told = new AtomicLong();
        try (Registration _ = serve()) {
            String key = "models/m/model.bin";
            String first = stager().ensureRemote(CONTEXT, NODE, local, key, TransferProgress.none());
            String again =
                    stager().ensureRemote(CONTEXT, NODE, local, key, (file, bytes, total) -> told.incrementAndGet());
            assertEquals(first, again);
            assertEquals(0, told.get());
        }
    }

    @Test
    void aWorkersFileComesHere() throws IOException {
        try (Registration _ = serve()) {
            Path temp = Path.of(stager().allocRemoteTemp(CONTEXT, NODE));
            assertTrue(temp.startsWith(remote), temp.toString());
            Files.write(temp, content);
            Path target = folder.resolve("deep/er/fetched.bin");
            stager().fetchRemote(CONTEXT, NODE, temp.toString(), target);
            assertArrayEquals(content, Files.readAllBytes(target));
        }
    }

    @Test
    void aKeyComesHere() throws IOException {
        try (Registration _ = serve()) {
            stager().ensureRemote(CONTEXT, NODE, local, "models/m/model.bin", TransferProgress.none());
            Path target = folder.resolve("fetched.bin");
            stager().fetchRemoteByKey(CONTEXT, NODE, "models/m/model.bin", target);
            assertArrayEquals(content, Files.readAllBytes(target));
        }
    }

    @Test
    void keysAreListedAndReleased() {
        try (Registration _ = serve()) {
            List<String> keys = List.of("ephemeral/in/r1/a", "ephemeral/in/r1/b", "ephemeral/in/r2/c");
            keys.forEach(key -> stager().ensureRemote(CONTEXT, NODE, local, key, TransferProgress.none()));
            assertEquals(keys.subList(0, 2), stager().listRemoteDir(CONTEXT, NODE, "ephemeral/in/r1"));
            stager().releaseRemote(CONTEXT, NODE, "ephemeral/in/r2/c");
            stager().releaseRemoteRequest(CONTEXT, NODE, "r1", keys.subList(0, 2));
            assertEquals(List.of(), stager().listRemoteDir(CONTEXT, NODE, "ephemeral"));
        }
    }

    @Test
    void aWorkerThatSaysNoIsAnOrdinaryError() throws IOException {
        try (Registration _ = serve()) {
            Path outside = Files.write(folder.resolve("secret"), content);
            assertThrows(
                    StagingException.class,
                    () -> stager().fetchRemote(CONTEXT, NODE, outside.toString(), folder.resolve("x")));
            assertThrows(StagingException.class, () -> stager().listRemoteDir(CONTEXT, NODE, "../.."));
            assertFalse(Files.exists(folder.resolve("x")));
        }
    }

    @Test
    void aFileThatIsNotHereIsAnOrdinaryError() {
        try (Registration _ = serve()) {
            assertThrows(
                    StagingException.class,
                    () -> stager().ensureRemote(
                                    CONTEXT, NODE, folder.resolve("missing"), "models/m/x", TransferProgress.none()));
        }
    }

    @Test
    void nobodyListeningIsNoRouteWhereTheCarrierKnowsIt() {
        SeamException thrown = assertThrows(SeamException.class, () -> stager().allocRemoteTemp(CONTEXT, NODE));
        assertEquals(has(Capability.OBJECT_STORE), thrown instanceof NoRouteException, thrown.toString());
    }

    @Test
    void stagingToTheStoreNeedsAStore() {
        try (Registration _ = serve()) {
            String path = stager().ensureRemote(CONTEXT, NODE, local, "models/m/model.bin", TransferProgress.none());
            if (has(Capability.OBJECT_STORE)) {
                stager().stageRemoteToStore(CONTEXT, NODE, path, "outputs/o");
                assertTrue(rig().here().store().exists(CONTEXT, "outputs/o"));
            } else {
                assertThrows(
                        NotServedException.class, () -> stager().stageRemoteToStore(CONTEXT, NODE, path, "outputs/o"));
            }
        }
    }

    @Test
    void theStoreRefusesKeysThatLeaveIt() {
        needs(Capability.OBJECT_STORE);
        for (String key : List.of("", "..", "../x", "/etc/passwd", "a/../../x")) {
            assertThrows(StagingException.class, () -> rig().here().store().exists(CONTEXT, key), key);
        }
    }
}
