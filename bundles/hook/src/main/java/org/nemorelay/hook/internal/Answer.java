package org.nemorelay.hook.internal;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;

/** What a listener answered over HTTP/1.1, read by hand. */
record Answer(int status, byte[] body) {
    private static final int MAX_HEAD_BYTES = 64 << 10;
    private static final int MAX_BODY_BYTES = 1 << 20;

    /** Status and framing of an answer; {@code length} is -1 where none is told. */
    record Head(int status, boolean chunked, long length) {}

    /** The next final answer with its body, which may end with the connection. */
    static Answer read(InputStream in) throws IOException, HookFailure {
        while (true) {
            Head head = head(in);
            if (head.status >= 200) {
                return new Answer(head.status, body(in, head));
            }
            if (head.status == 101) {
                throw new IOException("the answer changes the protocol");
            }
        }
    }

    /** The next head, interim or final. */
    static Head head(InputStream in) throws IOException {
        int status = status(line(in));
        boolean chunked = false;
        long length = -1;
        int left = MAX_HEAD_BYTES;
        for (String line = line(in); !line.isEmpty(); line = line(in)) {
            left -= line.length();
            int colon = line.indexOf(':');
            if (colon < 1 || left < 0) {
                throw new IOException("the answer's head is malformed");
            }
            String name = line.substring(0, colon);
            String value = line.substring(colon + 1).strip();
            if (name.equalsIgnoreCase("transfer-encoding")) {
                chunked = value.equalsIgnoreCase("chunked");
                if (!chunked) {
                    throw new IOException("the answer has an unknown transfer encoding");
                }
            } else if (name.equalsIgnoreCase("content-length")) {
                length = number(value, 10);
            }
        }
        return new Head(status, chunked, length);
    }

    private static byte[] body(InputStream in, Head head) throws IOException, HookFailure {
        int status = head.status;
        long length = head.length;
        if (status == 204 || status == 304) {
            return new byte[0];
        }
        if (head.chunked) {
            return chunks(in);
        }
        if (length > MAX_BODY_BYTES) {
            throw answerTooLarge();
        }
        byte[] body = in.readNBytes(length < 0 ? MAX_BODY_BYTES + 1 : (int) length);
        if (length < 0 && body.length > MAX_BODY_BYTES) {
            throw answerTooLarge();
        }
        if (body.length < length) {
            throw new EOFException("the answer ended early");
        }
        return body;
    }

    private static byte[] chunks(InputStream in) throws IOException, HookFailure {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        while (true) {
            String line = line(in);
            int extension = line.indexOf(';');
            long size = number((extension < 0 ? line : line.substring(0, extension)).strip(), 16);
            if (size == 0) {
                return body.toByteArray(); // Trailers mean nothing here, and the connection ends.
            }
            if (body.size() + size > MAX_BODY_BYTES) {
                throw answerTooLarge();
            }
            byte[] chunk = in.readNBytes((int) size);
            if (chunk.length < size || !line(in).isEmpty()) {
                throw new EOFException("the answer ended early");
            }
            body.write(chunk);
        }
    }

    private static HookFailure answerTooLarge() {
        return HookFailure.delivery("the answer is larger than 1 MiB");
    }

    private static int status(String line) throws IOException {
        if (!line.startsWith("HTTP/1.") || line.length() < 12 || line.charAt(8) != ' ') {
            throw new IOException("the answer is not HTTP/1.1");
        }
        long status = number(line.substring(9, 12), 10);
        if (status < 100) {
            throw new IOException("the answer is not HTTP/1.1");
        }
        return (int) status;
    }

    private static long number(String digits, int radix) throws IOException {
        if (digits.isEmpty() || digits.length() > 15) {
            throw new IOException("the answer holds a malformed number");
        }
        long value = 0;
        for (int i = 0; i < digits.length(); i++) {
            int digit = Character.digit(digits.charAt(i), radix);
            if (digit < 0) {
                throw new IOException("the answer holds a malformed number");
            }
            value = value * radix + digit;
        }
        return value;
    }

    /** One line of the head, without its end. */
    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder(64);
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                throw new EOFException("the answer ended early");
            }
            if (line.length() == MAX_HEAD_BYTES) {
                throw new IOException("the answer's head is malformed");
            }
            line.append((char) c);
        }
        int end = line.length();
        return end > 0 && line.charAt(end - 1) == '\r' ? line.substring(0, end - 1) : line.toString();
    }
}
