package org.nemorelay.plugin.observability.internal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A protocol buffer by its wire format alone: what stands in it, to the byte. */
final class Protobuf {
    private final Map<Integer, List<Object>> fields = new TreeMap<>();

    /** @throws IllegalArgumentException for bytes that are no message */
    Protobuf(byte[] message) {
        ByteBuffer in = ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN);
        while (in.hasRemaining()) {
            long tag = varint(in);
            Object value = switch ((int) (tag & 7)) {
                case 0 -> varint(in);
                case 1 -> in.getLong();
                case 2 -> {
                    byte[] bytes = new byte[Math.toIntExact(varint(in))];
                    in.get(bytes);
                    yield bytes;
                }
                case 5 -> (long) in.getInt();
                default -> throw new IllegalArgumentException("wire type " + (tag & 7));
            };
            fields.computeIfAbsent((int) (tag >> 3), number -> new ArrayList<>())
                    .add(value);
        }
    }

    private static long varint(ByteBuffer in) {
        long value = 0;
        for (int shift = 0; ; shift += 7) {
            byte next = in.get();
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
    }

    List<Protobuf> messages(int number) {
        return fields.getOrDefault(number, List.of()).stream()
                .map(value -> new Protobuf((byte[]) value))
                .toList();
    }

    Protobuf message(int number) {
        return messages(number).getFirst();
    }

    String text(int number) {
        return fields.containsKey(number) ? new String((byte[]) one(number), StandardCharsets.UTF_8) : "";
    }

    String hex(int number) {
        return fields.containsKey(number) ? HexFormat.of().formatHex((byte[]) one(number)) : "";
    }

    long number(int number) {
        return fields.containsKey(number) ? (Long) one(number) : 0;
    }

    private Object one(int number) {
        return fields.get(number).getLast();
    }

    /** OTLP's list of KeyValue. */
    Map<String, Object> attributes(int number) {
        Map<String, Object> attributes = new LinkedHashMap<>();
        messages(number)
                .forEach(pair -> attributes.put(pair.text(1), pair.message(2).any()));
        return attributes;
    }

    /** OTLP's AnyValue. */
    private Object any() {
        int kind = fields.keySet().iterator().next();
        return switch (kind) {
            case 1 -> text(1);
            case 2 -> number(2) == 1;
            case 3 -> number(3);
            case 4 -> Double.longBitsToDouble(number(4));
            case 5 -> message(5).messages(1).stream().map(Protobuf::any).toList();
            default -> throw new IllegalArgumentException("a value of kind " + kind);
        };
    }
}
