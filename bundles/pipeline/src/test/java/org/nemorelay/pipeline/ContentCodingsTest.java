package org.nemorelay.pipeline;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.airlift.compress.v3.zstd.ZstdOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.nemorelay.pipeline.ContentCodings.Unreadable;

class ContentCodingsTest {
    private static final byte[] PLAIN = "{\"model\":\"m\"}".repeat(500).getBytes(StandardCharsets.UTF_8);

    private static byte[] coded(String coding, byte[] plain) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OutputStream out = switch (coding) {
            case "gzip" -> new GZIPOutputStream(bytes);
            case "deflate" -> new DeflaterOutputStream(bytes);
            case "raw" -> new DeflaterOutputStream(bytes, new Deflater(9, true));
            default -> new ZstdOutputStream(bytes);
        }) {
            out.write(plain);
        }
        return bytes.toByteArray();
    }

    private static Unreadable.Why refused(byte[] body, String coding, long limit) {
        return assertThrows(Unreadable.class, () -> ContentCodings.decode(body, coding, limit))
                .why();
    }

    @Test
    void eachCodingIsRead() throws Exception {
        assertArrayEquals(PLAIN, ContentCodings.decode(PLAIN, "", PLAIN.length));
        assertArrayEquals(PLAIN, ContentCodings.decode(PLAIN, "identity", PLAIN.length));
        assertArrayEquals(PLAIN, ContentCodings.decode(coded("gzip", PLAIN), "GZIP", PLAIN.length));
        assertArrayEquals(PLAIN, ContentCodings.decode(coded("deflate", PLAIN), "deflate", PLAIN.length));
        assertArrayEquals(PLAIN, ContentCodings.decode(coded("raw", PLAIN), "deflate", PLAIN.length));
        assertArrayEquals(PLAIN, ContentCodings.decode(coded("zstd", PLAIN), "zstd", PLAIN.length));
        assertArrayEquals(
                PLAIN, ContentCodings.decode(coded("zstd", coded("gzip", PLAIN)), "gzip, zstd", PLAIN.length));
    }

    @Test
    void whatCannotBeReadSaysWhy() throws Exception {
        assertEquals(Unreadable.Why.UNKNOWN, refused(PLAIN, "br", 100_000));
        assertEquals(Unreadable.Why.UNKNOWN, refused(PLAIN, "gzip,gzip,gzip,gzip,gzip", 100_000));
        for (String coding : new String[] {"gzip", "deflate", "zstd"}) {
            byte[] coded = coded(coding, PLAIN);
            assertEquals(Unreadable.Why.CORRUPT, refused(PLAIN, coding, 100_000), coding);
            assertEquals(
                    Unreadable.Why.CORRUPT, refused(Arrays.copyOf(coded, coded.length / 2), coding, 100_000), coding);
            assertEquals(Unreadable.Why.TOO_LARGE, refused(coded, coding, PLAIN.length - 1), coding);
        }
    }

    /** What is measured before it is kept is kept whole. */
    @Test
    void aLargeBodyIsReadToItsEnd() throws Exception {
        byte[] large = new byte[9_000_001];
        new java.util.Random(1).nextBytes(large);
        for (String coding : new String[] {"gzip", "deflate", "zstd"}) {
            byte[] coded = coded(coding, large);
            assertArrayEquals(large, ContentCodings.decode(coded, coding, large.length), coding);
            assertEquals(Unreadable.Why.TOO_LARGE, refused(coded, coding, large.length - 1), coding);
            assertEquals(
                    Unreadable.Why.CORRUPT,
                    refused(Arrays.copyOf(coded, coded.length - 10_000), coding, large.length),
                    coding);
        }
    }

    @Test
    void aBombIsStoppedAtTheLimit() throws Exception {
        byte[] bomb = coded("zstd", new byte[50_000_000]);
        assertEquals(Unreadable.Why.TOO_LARGE, refused(bomb, "zstd", 1_000_000));
    }
}
