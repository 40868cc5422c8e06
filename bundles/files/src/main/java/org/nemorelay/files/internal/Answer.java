package org.nemorelay.files.internal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.json.Json;

/** An answer of the file server: text, or a file. */
public record Answer(int status, Map<String, String> headers, byte[] body, Optional<Path> file) {
    public static Answer json(int status, Map<String, Object> body) {
        return new Answer(
                status,
                Map.of("Content-Type", "application/json"),
                Json.write(body).getBytes(StandardCharsets.UTF_8),
                Optional.empty());
    }

    public static Answer error(int status, String message) {
        return json(status, Map.of("error", message));
    }

    static Answer empty(int status) {
        return new Answer(status, Map.of(), new byte[0], Optional.empty());
    }

    static Answer file(Path file, Map<String, String> headers) {
        return new Answer(200, headers, new byte[0], Optional.of(file));
    }

    Answer with(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new Answer(status, more, body, file);
    }

    public void send(Wire wire, boolean last, boolean withBody) throws IOException {
        if (file.isEmpty()) {
            wire.write(head(body.length, last));
            if (withBody) {
                wire.write(ByteBuffer.wrap(body));
            }
            return;
        }
        try (FileChannel in = FileChannel.open(file.get(), StandardOpenOption.READ)) {
            long length = in.size();
            wire.write(head(length, last));
            ByteBuffer buffer = ByteBuffer.allocate(256 * 1024);
            for (long sent = 0; withBody && sent < length; ) {
                buffer.clear().limit((int) Math.min(buffer.capacity(), length - sent));
                int count = in.read(buffer);
                if (count < 0) {
                    throw new IOException(file.get() + " became shorter while it was sent");
                }
                wire.write(buffer.flip());
                sent += count;
            }
        }
    }

    private String head(long length, boolean last) {
        StringBuilder head = new StringBuilder("HTTP/1.1 ").append(status).append(" \r\n");
        headers.forEach(
                (name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
        if (status != 204) {
            head.append("Content-Length: ").append(length).append("\r\n");
        }
        if (last) {
            head.append("Connection: close\r\n");
        }
        return head.append("\r\n").toString();
    }
}
