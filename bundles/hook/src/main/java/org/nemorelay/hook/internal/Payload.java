package org.nemorelay.hook.internal;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** A hook's bytes as they were read: in memory once, however large, and never decoded. Immutable. */
public final class Payload {
    /** What stands for an input of nothing but white space. */
    static final Payload EMPTY_OBJECT = new Payload(List.of(new byte[] {'{', '}'}), 2);

    private static final int FIRST_BLOCK = 8 << 10;
    private static final int BLOCK = 256 << 10;

    private final List<byte[]> blocks;
    private final int length;

    private Payload(List<byte[]> blocks, int length) {
        this.blocks = blocks;
        this.length = length;
    }

    /** Reads up to the end of the stream, or up to {@code limit} bytes. */
    static Payload read(InputStream in, int limit) throws IOException {
        List<byte[]> blocks = new ArrayList<>();
        int length = 0;
        while (length < limit) {
            int size = Math.min(blocks.isEmpty() ? FIRST_BLOCK : BLOCK, limit - length);
            byte[] block = new byte[size];
            int read = in.readNBytes(block, 0, size);
            length += read;
            if (read < size) {
                blocks.add(Arrays.copyOf(block, read));
                break;
            }
            blocks.add(block);
        }
        return new Payload(blocks, length);
    }

    int length() {
        return length;
    }

    InputStream open() {
        List<InputStream> streams = new ArrayList<>(blocks.size());
        for (byte[] block : blocks) {
            streams.add(new ByteArrayInputStream(block));
        }
        return new SequenceInputStream(Collections.enumeration(streams));
    }

    /** Sends it after the head; what is small leaves together with the head in one write. */
    void send(byte[] head, OutputStream out) throws IOException {
        byte[] first = blocks.isEmpty() ? new byte[0] : blocks.getFirst();
        byte[] joined = Arrays.copyOf(head, head.length + first.length);
        System.arraycopy(first, 0, joined, head.length, first.length);
        out.write(joined);
        for (int i = 1; i < blocks.size(); i++) {
            out.write(blocks.get(i));
        }
    }

    boolean blank() {
        for (byte[] block : blocks) {
            for (byte b : block) {
                if (b != ' ' && b != '\t' && b != '\n' && b != '\r') {
                    return false;
                }
            }
        }
        return true;
    }

    /** Index of the first sequence that is not UTF-8 (RFC 3629), or -1. */
    int firstNotUtf8() {
        int at = 0;
        int sequence = 0;
        int more = 0;
        int low = 0x80;
        int high = 0xbf;
        for (byte[] block : blocks) {
            for (byte signed : block) {
                int next = signed & 0xff;
                if (more > 0) {
                    if (next < low || next > high) {
                        return sequence;
                    }
                    more--;
                    low = 0x80;
                    high = 0xbf;
                } else if (next >= 0x80) {
                    sequence = at;
                    if (next >= 0xc2 && next <= 0xdf) {
                        more = 1;
                    } else if (next >= 0xe0 && next <= 0xef) {
                        more = 2;
                        low = next == 0xe0 ? 0xa0 : 0x80;
                        high = next == 0xed ? 0x9f : 0xbf;
                    } else if (next >= 0xf0 && next <= 0xf4) {
                        more = 3;
                        low = next == 0xf0 ? 0x90 : 0x80;
                        high = next == 0xf4 ? 0x8f : 0xbf;
                    } else {
                        return at;
                    }
                }
                at++;
            }
        }
        return more > 0 ? sequence : -1;
    }
}
