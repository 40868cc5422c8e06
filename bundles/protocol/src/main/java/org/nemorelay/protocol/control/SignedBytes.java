package org.nemorelay.protocol.control;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.List;

/** Writes the canonical bytes that Ed25519 signatures cover (relay-daemon 3.2). */
final class SignedBytes {
    private static final byte[] PREFIX = Wire.utf8("NEMO-RELAY-SIGNED-TRANSCRIPT\0");

    private final ByteArrayOutputStream out = new ByteArrayOutputStream(1536);

    SignedBytes(String domain, int fieldCount) {
        out.writeBytes(PREFIX);
        sized(Wire.utf8(domain));
        out.writeBytes(ByteBuffer.allocate(4).putInt(fieldCount).array());
    }

    SignedBytes field(String name, byte[] value) {
        sized(Wire.utf8(name));
        sized(value);
        return this;
    }

    SignedBytes field(String name, String value) {
        return field(name, Wire.utf8(value));
    }

    SignedBytes u16(String name, int value) {
        return field(name, ByteBuffer.allocate(2).putShort((short) value).array());
    }

    SignedBytes u64(String name, long value) {
        return field(name, u64(value));
    }

    SignedBytes flag(String name, boolean value) {
        return field(name, new byte[] {(byte) (value ? 1 : 0)});
    }

    /** Capability lists use 32-bit lengths inside the 64-bit outer layer. */
    SignedBytes capabilities(String name, List<String> sorted) {
        int size = 4;
        for (String capability : sorted) {
            size += 4 + Wire.utf8(capability).length;
        }
        ByteBuffer value = ByteBuffer.allocate(size).putInt(sorted.size());
        for (String capability : sorted) {
            byte[] bytes = Wire.utf8(capability);
            value.putInt(bytes.length).put(bytes);
        }
        return field(name, value.array());
    }

    byte[] bytes() {
        return out.toByteArray();
    }

    private void sized(byte[] value) {
        out.writeBytes(u64(value.length));
        out.writeBytes(value);
    }

    private static byte[] u64(long value) {
        return ByteBuffer.allocate(8).putLong(value).array();
    }
}
