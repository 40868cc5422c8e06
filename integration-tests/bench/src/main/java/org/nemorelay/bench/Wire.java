package org.nemorelay.bench;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;

/** Just enough of HTTP/1.1 to measure it. */
final class Wire {
    private Wire() {}

    /** Start line and how the body is framed; {@code length} is -1 for a chunked one. */
    record Head(String start, long length) {}

    /** The next head, or null at the end of input. */
    static Head head(InputStream in) throws IOException {
        String start = line(in);
        if (start == null) {
            return null;
        }
        long length = 0;
        for (String line = line(in); line != null && !line.isEmpty(); line = line(in)) {
            if (line.regionMatches(true, 0, "content-length:", 0, 15)) {
                length = Long.parseLong(line.substring(15).strip());
            } else if (line.regionMatches(true, 0, "transfer-encoding:", 0, 18)) {
                length = -1;
            }
        }
        return new Head(start, length);
    }

    /** Reads the body away and returns its bytes without transfer coding. */
    static long skipBody(InputStream in, Head head) throws IOException {
        if (head.length() >= 0) {
            in.skipNBytes(head.length());
            return head.length();
        }
        long total = 0;
        while (true) {
            String size = line(in);
            if (size == null) {
                throw new EOFException("the body ended before its last chunk");
            }
            int chunk = Integer.parseInt(size, 16);
            in.skipNBytes(chunk + 2L);
            if (chunk == 0) {
                return total;
            }
            total += chunk;
        }
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder(64);
        for (int next = in.read(); next >= 0; next = in.read()) {
            if (next == '\n') {
                return line.toString();
            }
            if (next != '\r') {
                line.append((char) next);
            }
        }
        return null;
    }
}
