package org.nemorelay.backend.internal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Reads proto3 fields one after the other; a message that is cut off or malformed is an {@link IllegalArgumentException}. */
public final class ProtoReader {
    private final ByteBuffer in;
    private int tag;

    public ProtoReader(byte[] message) {
        this.in = ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** The next field's number, 0 at the end. Its value is to be read or skipped before the next call. */
    public int next() {
        if (!in.hasRemaining()) {
            return 0;
        }
        tag = (int) varint();
        if (tag >>> 3 == 0) {
            throw new IllegalArgumentException("the message has a field 0");
        }
        return tag >>> 3;
    }

    public byte[] bytes() {
        require(2);
        long length = varint();
        if (length < 0 || length > in.remaining()) {
            throw new IllegalArgumentException("the message is cut off");
        }
        byte[] value = new byte[(int) length];
        in.get(value);
        return value;
    }

    public String string() {
        return new String(bytes(), StandardCharsets.UTF_8);
    }

    public long integer() {
        require(0);
        return varint();
    }

    public float real() {
        require(5);
        need(4);
        return in.getFloat();
    }

    public void skip() {
        switch (tag & 7) {
            case 0 -> varint();
            case 1 -> advance(8);
            case 2 -> bytes();
            case 5 -> advance(4);
            default -> throw new IllegalArgumentException("the message has a field of unknown type " + (tag & 7));
        }
    }

    private void require(int type) {
        if ((tag & 7) != type) {
            throw new IllegalArgumentException("field " + (tag >>> 3) + " has type " + (tag & 7) + ", not " + type);
        }
    }

    private void advance(int count) {
        need(count);
        in.position(in.position() + count);
    }

    private void need(int count) {
        if (in.remaining() < count) {
            throw new IllegalArgumentException("the message is cut off");
        }
    }

    private long varint() {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            need(1);
            byte next = in.get();
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new IllegalArgumentException("the message has a number of more than ten bytes");
    }
}
