package org.nemorelay.hook;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** Heads of HTTP/1.1 messages by hand, for listeners that tests play. */
final class Heads {
    private Heads() {}

    /** The next head with the empty line at its end. */
    static String read(InputStream in) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        String head = "";
        while (!head.endsWith("\r\n\r\n")) {
            int next = in.read();
            if (next < 0) {
                throw new EOFException("ended within: " + head);
            }
            all.write(next);
            head = all.toString(StandardCharsets.ISO_8859_1);
        }
        return head;
    }

    static String value(String head, String name) {
        int at = head.indexOf("\r\n" + name + ": ") + name.length() + 4;
        return head.substring(at, head.indexOf('\r', at));
    }

    static byte[] ok(byte[] body) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(("HTTP/1.1 200 OK\r\ncontent-length: " + body.length + "\r\n\r\n")
                .getBytes(StandardCharsets.ISO_8859_1));
        all.writeBytes(body);
        return all.toByteArray();
    }
}
