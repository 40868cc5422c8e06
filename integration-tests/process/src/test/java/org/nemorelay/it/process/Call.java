package org.nemorelay.it.process;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** One request of a client and its answer, piece by piece. Closing it before its end cancels it. */
interface Call extends AutoCloseable {
    /** Status and headers of an answer. */
    record Head(int status, List<Map.Entry<String, String>> headers) {
        List<String> header(String name) {
            return headers.stream()
                    .filter(header -> header.getKey().equalsIgnoreCase(name))
                    .map(Map.Entry::getValue)
                    .toList();
        }
    }

    /** More of the request's body; on the wire when the call returns. */
    Call data(byte[] bytes) throws IOException;

    /** The end of the request's body, with trailers given as {@code name: value}. */
    Call end(String... trailers) throws IOException;

    /** The final answer's head, waited for. */
    Head head() throws IOException;

    /**
     * What arrives next of the answer's body, empty at its end.
     *
     * @throws IOException when the answer is broken off
     */
    byte[] read() throws IOException;

    /** Trailer lines, names in lower case, known at the body's end. */
    List<String> trailers();

    default byte[] rest() throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (byte[] more = read(); more.length > 0; more = read()) {
            body.write(more);
        }
        return body.toByteArray();
    }

    /** Reads on until this much text is there. */
    default String read(int length) throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        while (text.size() < length) {
            byte[] more = read();
            if (more.length == 0) {
                throw new IOException("the body ended after " + text);
            }
            text.write(more);
        }
        return text.toString(StandardCharsets.UTF_8);
    }

    @Override
    void close();
}
