package org.nemorelay.it;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The answer of a {@link MockProvider}, written piece by piece; every piece is on the wire when the call returns. */
public final class Reply {
    private final OutputStream out;
    private final List<String> always;
    private boolean closes;

    /** @param always header lines of every head */
    Reply(OutputStream out, String... always) {
        this.out = out;
        this.always = List.of(always);
    }

    /** Status line and headers, given as whole lines; the blank line is added. */
    public Reply head(int status, String... headers) throws IOException {
        StringBuilder head = new StringBuilder("HTTP/1.1 " + status + " Mock\r\n");
        for (String header : headers) {
            head.append(header).append("\r\n");
        }
        for (String header : always) {
            head.append(header).append("\r\n");
        }
        return raw(head.append("\r\n").toString());
    }

    public Reply chunk(String text) throws IOException {
        return chunk(text.getBytes(StandardCharsets.UTF_8));
    }

    public Reply chunk(byte[] data) throws IOException {
        out.write((Integer.toHexString(data.length) + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
        out.write(data);
        return raw("\r\n");
    }

    /** The last chunk and trailer lines. */
    public void end(String... trailers) throws IOException {
        StringBuilder end = new StringBuilder("0\r\n");
        for (String trailer : trailers) {
            end.append(trailer).append("\r\n");
        }
        raw(end.append("\r\n").toString());
    }

    public void sized(int status, String type, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        head(status, "content-type: " + type, "content-length: " + bytes.length);
        raw(bytes);
    }

    public Reply raw(String text) throws IOException {
        return raw(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    public Reply raw(byte[] bytes) throws IOException {
        out.write(bytes);
        out.flush();
        return this;
    }

    /** The connection ends after this answer, whatever it promised. */
    public void cut() {
        closes = true;
    }

    boolean closes() {
        return closes;
    }
}
