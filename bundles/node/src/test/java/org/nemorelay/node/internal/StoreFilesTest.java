package org.nemorelay.node.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.files.FileAreas;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.StagingException;
import org.nemorelay.seams.staging.ObjectStore;
import org.nemorelay.seams.staging.TransferProgress;
import org.nemorelay.testkit.Await;
import org.nemorelay.workerctl.FileEnsureReply;
import org.nemorelay.workerctl.FileEnsureRequest;
import org.nemorelay.workerctl.FileListDirRequest;
import org.nemorelay.workerctl.FileReleaseRequest;
import org.nemorelay.workerctl.FileStageRequest;

/** The verbs of files between a node's folders and a store (distributed-seams 5.4). */
class StoreFilesTest {
    @TempDir
    Path root;

    private final Store store = new Store();
    private FileAreas areas;
    private StoreFiles files;

    @BeforeEach
    void below() throws IOException {
        areas = FileAreas.below(root.toRealPath());
        files = new StoreFiles(areas, store);
    }

    private FileEnsureReply ensure(String key) {
        return files.ensure(Context.background(), new FileEnsureRequest(key));
    }

    @Test
    void aFileIsFetchedOnceAndAppearsWhole() throws IOException {
        store.objects.put("models/m/a", "content");
        FileEnsureReply reply = ensure("models/m/a");
        assertEquals("", reply.error());
        assertEquals("content", Files.readString(Path.of(reply.localPath())));
        assertEquals(reply, ensure("models/m/a"));
        assertEquals(1, store.gets.get());
        assertEquals(List.of("models/m/a"), list("models/m"));
    }

    @Test
    void whatTheStoreLacksIsRefusedAndLeavesNothing() throws IOException {
        assertTrue(ensure("models/m/a").error().contains("no object"), "the reason");
        assertEquals("", ensure("models/m/a").localPath());
        try (var left = Files.list(areas.models().resolve("m"))) {
            assertEquals(List.of(), left.toList());
        }
    }

    /** Seed, open item 2: who waits for a file does not lose it because another who waits went away. */
    @Test
    void openItem2_aCallerWhoIsCancelledDoesNotEndTheFetchOfAnother() throws Exception {
        store.objects.put("models/m/a", "content");
        store.gate = new CountDownLatch(1);
        Context.Cancellable first = Context.background().cancellable();
        Thread one = Thread.ofVirtual().start(() -> files.ensure(first, new FileEnsureRequest("models/m/a")));
        Await.until("it fetches", () -> store.gets.get() == 1);
        List<FileEnsureReply> replies = new java.util.concurrent.CopyOnWriteArrayList<>();
        Thread other = Thread.ofVirtual().start(() -> replies.add(ensure("models/m/a")));
        first.cancel();
        store.gate.countDown();
        one.join();
        other.join();
        assertEquals("", replies.getFirst().error());
        assertEquals(1, store.gets.get());
    }

    @Test
    void onlyFilesOfTheNodesOwnFoldersAreStaged() throws IOException {
        Path file = Files.writeString(areas.data().resolve("out"), "result");
        assertEquals("", stage(file.toString(), "ephemeral/fetch/1/out"));
        assertEquals("result", store.objects.get("ephemeral/fetch/1/out"));
        assertTrue(stage("/etc/passwd", "k").contains("path outside allowed directories"));
        assertTrue(stage("data/../../x", "k").contains("invalid key"));
        assertEquals(1, store.objects.size());
    }

    private String stage(String path, String key) {
        return files.stage(Context.background(), new FileStageRequest(path, key))
                .error();
    }

    @Test
    void temporaryFilesHaveTheirFolder() {
        Path temp = Path.of(files.temp(Context.background()).localPath());
        assertTrue(temp.startsWith(areas.staging().resolve("staging-tmp")), temp.toString());
        assertTrue(temp.getFileName().toString().matches("localai-staging-.*\\.tmp"), temp.toString());
    }

    private List<String> list(String prefix) {
        return files.list(Context.background(), new FileListDirRequest(prefix)).files();
    }

    @Test
    void listingsStayWithinAndAnEmptyOneIsEmpty() {
        assertEquals(List.of(), list("models/nothing"));
        assertEquals(
                "invalid key prefix",
                files.list(Context.background(), new FileListDirRequest("../x")).error());
    }

    /** A peer's words never become an exception that would end the node's process. */
    @Test
    void keysThatAreNoFileNamesAreRefused() {
        for (String key : List.of("", "a\0b", "../x", "/etc/passwd", "models/../../x")) {
            assertFalse(ensure(key).error().isEmpty(), key);
            assertFalse(stage(key, "k").isEmpty(), key);
            assertFalse(release(key).isEmpty(), key);
        }
    }

    private String release(String key) {
        return files.release(Context.background(), new FileReleaseRequest(key, ""))
                .error();
    }

    @Test
    void onlyWhatWasForOneRequestIsReleased() throws IOException {
        Path file = areas.staging().resolve("ephemeral/in/r1/image");
        Files.createDirectories(file.getParent());
        Files.writeString(file, "x");
        assertEquals("invalid request", release("models/m/a"));
        assertEquals("invalid request", release("ephemeral/in/r1"));
        assertEquals("", release("ephemeral/in/r1/image"));
        assertFalse(Files.exists(file));
        assertEquals("", release("ephemeral/in/r1/image"), "again");
        assertFalse(files.release(Context.background(), new FileReleaseRequest("", "r1"))
                .error()
                .isEmpty());
    }

    private static final class Store implements ObjectStore {
        private final Map<String, String> objects = new ConcurrentHashMap<>();
        private final AtomicInteger gets = new AtomicInteger();
        private CountDownLatch gate = new CountDownLatch(0);

        @Override
        public boolean exists(Context context, String key) {
            return objects.containsKey(key);
        }

        @Override
        public void put(Context context, String key, Path local, TransferProgress progress) {
            try {
                objects.put(key, Files.readString(local));
            } catch (IOException e) {
                throw new StagingException(e.getMessage());
            }
        }

        @Override
        public void get(Context context, String key, Path local) {
            gets.incrementAndGet();
            Await.latch(gate);
            if (context.cancelled()) {
                throw new CancelledException("cancelled");
            }
            if (!objects.containsKey(key)) {
                throw new StagingException("no object " + key);
            }
            try {
                Files.writeString(local, objects.get(key));
            } catch (IOException e) {
                throw new StagingException(e.getMessage());
            }
        }

        @Override
        public void delete(Context context, String key) {
            objects.remove(key);
        }
    }
}
