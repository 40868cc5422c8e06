package org.nemorelay.backend.internal;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Writes proto3 fields; values that are a field's default are left out, as proto3 has it. */
public final class ProtoWriter {
    private static final int VARINT = 0;
    private static final int LENGTH = 2;
    private static final int FIXED32 = 5;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    public ProtoWriter string(int field, String value) {
        return bytes(field, value.getBytes(StandardCharsets.UTF_8));
    }

    public ProtoWriter bytes(int field, byte[] value) {
        return value.length == 0 ? this : message(field, value);
    }

    /** Unlike {@link #bytes}, also when it is empty: an element of a list. */
    public ProtoWriter message(int field, byte[] value) {
        varint((long) field << 3 | LENGTH);
        varint(value.length);
        out.writeBytes(value);
        return this;
    }

    public ProtoWriter integer(int field, long value) {
        if (value != 0) {
            varint((long) field << 3 | VARINT);
            varint(value);
        }
        return this;
    }

    public ProtoWriter bool(int field, boolean value) {
        return integer(field, value ? 1 : 0);
    }

    public ProtoWriter real(int field, float value) {
        if (value != 0) {
            varint((long) field << 3 | FIXED32);
            int bits = Float.floatToRawIntBits(value);
            for (int shift = 0; shift < 32; shift += 8) {
                out.write(bits >> shift);
            }
        }
        return this;
    }

    private void varint(long value) {
        long left = value;
        while ((left & ~0x7fL) != 0) {
            out.write((int) (left & 0x7f | 0x80));
            left >>>= 7;
        }
        out.write((int) left);
    }

    public byte[] done() {
        return out.toByteArray();
    }
}
