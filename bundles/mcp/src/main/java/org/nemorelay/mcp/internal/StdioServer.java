package org.nemorelay.mcp.internal;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Queue;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/**
 * MCP over two streams, one message per line. While the gate is closed, {@code initialize} and what belongs to its
 * session wait for it; everything else is answered at once. One thread runs it; any thread opens the gate.
 */
final class StdioServer {
    static final int MAX_FRAME = 1024 * 1024;
    private static final int MAX_HELD = 1024;

    private final InputStream in;
    private final OutputStream out;
    private final McpMessages messages = new McpMessages();

    // Guarded by `this`.
    private final Queue<String> held = new ArrayDeque<>();
    private boolean open;

    StdioServer(InputStream in, OutputStream out) {
        this.in = in;
        this.out = out;
    }

    /**
     * Reads and answers until the input ends. {@link RelayException}: {@code PAYLOAD_TOO_LARGE} for a line of more than
     * 1 MiB, {@code INVALID_PAYLOAD} for one that is not UTF-8. An output that nobody reads any more is an end like any
     * other.
     */
    void run() {
        ByteArrayOutputStream line = new ByteArrayOutputStream(1024);
        byte[] buffer = new byte[8192];
        try {
            while (true) {
                int count = in.read(buffer);
                if (count < 0) {
                    if (line.size() > 0) {
                        take(line);
                    }
                    return;
                }
                int start = 0;
                for (int i = 0; i < count; i++) {
                    if (buffer[i] == '\n') {
                        line.write(buffer, start, i - start);
                        start = i + 1;
                        take(line);
                    }
                }
                line.write(buffer, start, count - start);
                if (line.size() > MAX_FRAME) {
                    throw tooLarge();
                }
            }
        } catch (IOException e) {
            return;
        }
    }

    /** Lets go what waits, and makes nothing wait from now on. */
    synchronized void open() {
        open = true;
        try {
            for (String text = held.poll(); text != null; text = held.poll()) {
                write(text);
            }
        } catch (IOException e) {
            // the reader of the input finds out that the harness is gone
        }
        notifyAll();
    }

    /** Waits until nothing waits for the gate, at most so long. */
    synchronized void awaitAnswered(long millis) throws InterruptedException {
        long deadline = System.nanoTime() + millis * 1_000_000;
        for (long left = millis; !held.isEmpty() && left > 0; left = (deadline - System.nanoTime()) / 1_000_000) {
            wait(left);
        }
    }

    private void take(ByteArrayOutputStream line) throws IOException {
        if (line.size() > MAX_FRAME) {
            throw tooLarge();
        }
        McpMessages.Answer answer = messages.answer(utf8(line.toByteArray()));
        line.reset();
        if (answer.text().isEmpty()) {
            return;
        }
        String text = answer.text().get();
        synchronized (this) {
            if (open || !answer.waits()) {
                write(text);
                return;
            }
            try {
                while (held.size() >= MAX_HELD && !open) {
                    wait();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
            if (open) {
                write(text);
            } else {
                held.add(text);
            }
        }
    }

    private void write(String text) throws IOException {
        out.write((text + "\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    private static String utf8(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new RelayException(FailureKind.INVALID_PAYLOAD, "an MCP message on standard input is not UTF-8", e);
        }
    }

    private static RelayException tooLarge() {
        return new RelayException(
                FailureKind.PAYLOAD_TOO_LARGE,
                "an MCP message on standard input exceeds the limit of " + MAX_FRAME + " bytes");
    }
}
