package org.nemorelay.carrier.nats.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.StagingException;
import org.nemorelay.seams.staging.TransferProgress;

class S3StoreTest {
    private static final Context CONTEXT = Context.background();
    private static final String KEY = "models/a b/ümlaut+%~.bin";

    @TempDir
    Path folder;

    private final FakeS3 s3 = new FakeS3();
    private Path file;
    private byte[] content;

    @BeforeEach
    void file() throws IOException {
        content = new byte[1_000_000];
        new Random(3).nextBytes(content);
        file = Files.write(folder.resolve("file"), content);
    }

    @AfterEach
    void close() {
        s3.close();
    }

    private S3Store store(String secret, long partBytes) throws IOException {
        Path key = Files.writeString(folder.resolve("secret"), secret + "\n");
        return new S3Store(
                s3.endpoint(),
                FakeS3.BUCKET,
                "eu-central-1",
                Optional.of(new S3Store.Keys(FakeS3.ACCESS, key)),
                partBytes);
    }

    private S3Store store() throws IOException {
        return store(FakeS3.SECRET, 10_000_000);
    }

    @Test
    void amazonsOwnExamplesOfSignatures() {
        SigV4 signer = new SigV4("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1");
        Instant then = Instant.parse("2013-05-24T00:00:00Z");
        String host = "examplebucket.s3.amazonaws.com";
        String nothing = SigV4.hex(SigV4.sha256().digest());
        assertTrue(signer.sign("GET", host, "/", Map.of("lifecycle", ""), nothing, then)
                .get("Authorization")
                .endsWith("Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
        assertTrue(signer.sign("GET", host, "/", Map.of("prefix", "J", "max-keys", "2"), nothing, then)
                .get("Authorization")
                .endsWith("Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
        assertFalse(signer.toString().contains("wJal"));
    }

    @Test
    void aFileGoesUpAndComesBackAndIsRemoved() throws IOException {
        S3Store store = store();
        assertFalse(store.exists(CONTEXT, KEY));
        List<Long> told = new ArrayList<>();
        store.put(CONTEXT, KEY, file, (name, bytes, total) -> told.add(bytes));
        assertEquals(content.length, told.getLast());
        assertArrayEquals(content, s3.objects.get(KEY));
        assertTrue(store.exists(CONTEXT, KEY));
        Path back = folder.resolve("back");
        store.get(CONTEXT, KEY, back);
        assertArrayEquals(content, Files.readAllBytes(back));
        store.delete(CONTEXT, KEY);
        store.delete(CONTEXT, KEY);
        assertFalse(store.exists(CONTEXT, KEY));
    }

    @Test
    void aLargeFileGoesUpInPartsAndIsWhole() throws IOException {
        List<Long> told = new ArrayList<>();
        store(FakeS3.SECRET, 300_000).put(CONTEXT, KEY, file, (name, bytes, total) -> {
            told.add(bytes);
            assertEquals(content.length, total);
        });
        assertArrayEquals(content, s3.objects.get(KEY));
        assertEquals(content.length, told.getLast());
        assertEquals(0, s3.openUploads());
        assertEquals(
                4, s3.requests.stream().filter(line -> line.startsWith("PUT")).count());
    }

    @Test
    void aFailedUploadInPartsIsTakenBack() throws IOException {
        Context.Cancellable context = Context.background().cancellable();
        assertThrows(
                CancelledException.class,
                () -> store(FakeS3.SECRET, 300_000).put(context, KEY, file, (name, bytes, total) -> {
                    if (bytes > 300_000) {
                        context.cancel();
                    }
                }));
        assertEquals(0, s3.openUploads());
        assertEquals(0, s3.objects.size());
    }

    @Test
    void aWrongKeyIsAnOrdinaryErrorThatNamesNoSecret() throws IOException {
        StagingException refused = assertThrows(
                StagingException.class,
                () -> store("another", 10_000_000).put(CONTEXT, KEY, file, TransferProgress.none()));
        assertTrue(refused.getMessage().contains("403 SignatureDoesNotMatch"), refused.getMessage());
        assertFalse(refused.getMessage().contains("another"));
    }

    @Test
    void aStoreThatIsBusyIsAskedAgainAndOneThatIsGoneIsAnOrdinaryError() throws IOException {
        s3.failing.set(2);
        store().put(CONTEXT, KEY, file, TransferProgress.none());
        assertArrayEquals(content, s3.objects.get(KEY));
        s3.failing.set(3);
        StagingException busy = assertThrows(StagingException.class, () -> store().get(CONTEXT, KEY, file));
        assertTrue(busy.getMessage().contains("503"), busy.getMessage());
        assertArrayEquals(content, Files.readAllBytes(file), "what is there is not touched");
        s3.close();
        assertThrows(StagingException.class, () -> store().exists(CONTEXT, KEY));
    }
}
