package org.nemorelay.bench;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Reads HTTP/1.1 messages off one connection, as little of it as finds their ends. */
final class Wire {
    private static final int LINE = 512;
    private static final byte[] LENGTH = "content-length:".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] CODING = "transfer-encoding:".getBytes(StandardCharsets.US_ASCII);

    private enum Part {
        START,
        HEADERS,
        BODY,
        CHUNK_SIZE,
        CHUNK,
        CHUNK_END,
        TRAILERS
    }

    private final byte[] line = new byte[LINE];
    private final byte[] start = new byte[LINE];
    private Part part = Part.START;
    private int length;
    private int startLength;
    private long left;
    private boolean chunked;

    /** Reads on; true when a message has ended, and then the buffer stands behind it. */
    boolean read(ByteBuffer in) {
        while (in.hasRemaining()) {
            if (part == Part.BODY || part == Part.CHUNK) {
                int skipped = (int) Math.min(left, in.remaining());
                in.position(in.position() + skipped);
                left -= skipped;
                if (left == 0 && ended()) {
                    return true;
                }
            } else {
                byte next = in.get();
                if (next == '\n') {
                    if (line()) {
                        return true;
                    }
                    length = 0;
                } else if (next != '\r' && length < LINE) {
                    line[length++] = next;
                }
            }
        }
        return false;
    }

    /** The start line of the last message. */
    String startLine() {
        return new String(start, 0, startLength, StandardCharsets.US_ASCII);
    }

    /** Whether the last message's start line goes on so from there. */
    boolean startHas(int offset, byte[] expected) {
        for (int i = 0; i < expected.length; i++) {
            if (start[offset + i] != expected[i]) {
                return false;
            }
        }
        return true;
    }

    private boolean ended() {
        if (part == Part.BODY) {
            part = Part.START;
            return true;
        }
        part = Part.CHUNK_END;
        return false;
    }

    private boolean line() {
        switch (part) {
            case START -> {
                System.arraycopy(line, 0, start, 0, length);
                startLength = length;
                left = 0;
                chunked = false;
                part = Part.HEADERS;
            }
            case HEADERS -> {
                if (length > 0) {
                    header();
                } else if (chunked) {
                    part = Part.CHUNK_SIZE;
                } else if (left > 0) {
                    part = Part.BODY;
                } else {
                    part = Part.START;
                    return true;
                }
            }
            case CHUNK_SIZE -> {
                left = 0;
                for (int i = 0; i < length; i++) {
                    left = left * 16 + Character.digit(line[i], 16);
                }
                part = left == 0 ? Part.TRAILERS : Part.CHUNK;
            }
            case CHUNK_END -> part = Part.CHUNK_SIZE;
            case TRAILERS -> {
                if (length == 0) {
                    part = Part.START;
                    return true;
                }
            }
            case BODY, CHUNK -> throw new IllegalStateException("a body has no lines");
        }
        return false;
    }

    private void header() {
        if (named(LENGTH)) {
            for (int i = LENGTH.length; i < length; i++) {
                if (line[i] >= '0' && line[i] <= '9') {
                    left = left * 10 + line[i] - '0';
                }
            }
        } else if (named(CODING)) {
            chunked = true;
        }
    }

    private boolean named(byte[] name) {
        if (length < name.length) {
            return false;
        }
        for (int i = 0; i < name.length; i++) {
            if ((line[i] | 0x20) != (name[i] | 0x20)) {
                return false;
            }
        }
        return true;
    }
}
