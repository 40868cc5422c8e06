package org.nemorelay.pipeline;

import io.airlift.compress.v3.zstd.ZstdInputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.zip.GZIPInputStream;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;

/** Reads bodies in the content codings gzip, deflate and zstd, several on top of each other too. Stateless. */
public final class ContentCodings {
    /** More layers are nobody's honest message. */
    private static final int MAX_LAYERS = 4;

    /** What is larger is measured before it is kept: a bomb is not to fill the memory up to the limit. */
    private static final int MEASURED = 4 << 20;

    private ContentCodings() {}

    /** A body that cannot be read. */
    public static final class Unreadable extends Exception {
        private static final long serialVersionUID = 1L;

        /** Why. */
        public enum Why {
            /** A coding that is not read here. */
            UNKNOWN,
            /** It is not what its coding says. */
            CORRUPT,
            /** Larger than the limit when it is plain. */
            TOO_LARGE
        }

        private final Why why;

        Unreadable(Why why, String message) {
            super(message);
            this.why = why;
        }

        public Why why() {
            return why;
        }
    }

    /** Whether a {@code content-encoding} header says that the body is plain. */
    public static boolean plain(String contentEncoding) {
        return layers(contentEncoding).isEmpty();
    }

    /**
     * The plain bytes of a body.
     *
     * @param contentEncoding the header's value, empty for none
     * @param limit how many plain bytes there may be
     */
    public static byte[] decode(byte[] body, String contentEncoding, long limit) throws Unreadable {
        List<String> layers = layers(contentEncoding);
        if (layers.size() > MAX_LAYERS) {
            throw new Unreadable(Unreadable.Why.UNKNOWN, "more than " + MAX_LAYERS + " content codings");
        }
        byte[] plain = body;
        for (int i = layers.size() - 1; i >= 0; i--) {
            plain = layer(plain, layers.get(i), limit);
        }
        return plain;
    }

    private static List<String> layers(String contentEncoding) {
        List<String> layers = new ArrayList<>();
        for (String word : contentEncoding.split(",")) {
            String coding = word.strip().toLowerCase(Locale.ROOT);
            if (!coding.isEmpty() && !coding.equals("identity")) {
                layers.add(coding);
            }
        }
        return layers;
    }

    private static byte[] layer(byte[] body, String coding, long limit) throws Unreadable {
        int most = (int) Math.min(limit, Integer.MAX_VALUE - 8);
        try {
            byte[] begun;
            int length;
            try (InputStream in = open(body, coding)) {
                begun = in.readNBytes(Math.min(most, MEASURED));
                length = begun.length + left(in, most - begun.length);
            }
            if (length > most) {
                throw new Unreadable(Unreadable.Why.TOO_LARGE, "larger than " + limit + " bytes when decoded");
            }
            if (length == begun.length) {
                return begun;
            }
            byte[] plain = new byte[length];
            try (InputStream in = open(body, coding)) {
                in.readNBytes(plain, 0, length);
            }
            return plain;
        } catch (IOException | RuntimeException e) {
            throw new Unreadable(Unreadable.Why.CORRUPT, "not valid " + coding);
        }
    }

    /** How many bytes are left; one more than {@code most} for all that are too many. */
    private static int left(InputStream in, int most) throws IOException {
        byte[] thrownAway = new byte[8192];
        int left = 0;
        for (int count = in.read(thrownAway); count >= 0; count = in.read(thrownAway)) {
            if (count > most - left) {
                return most + 1;
            }
            left += count;
        }
        return left;
    }

    private static InputStream open(byte[] body, String coding) throws IOException, Unreadable {
        InputStream raw = new ByteArrayInputStream(body);
        return switch (coding) {
            case "gzip", "x-gzip" -> new GZIPInputStream(raw);
            // With the zlib header that the coding's name stands for, or without, as many send it.
            case "deflate" -> new InflaterInputStream(raw, new Inflater(!zlib(body)));
            case "zstd" -> new ZstdInputStream(raw);
            default -> throw new Unreadable(Unreadable.Why.UNKNOWN, "content-encoding " + coding);
        };
    }

    private static boolean zlib(byte[] body) {
        return body.length >= 2 && (body[0] & 0x0f) == 8 && ((body[0] & 0xff) << 8 | body[1] & 0xff) % 31 == 0;
    }
}
