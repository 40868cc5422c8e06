package org.nemorelay.admin.internal;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.Channel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Lines of UTF-8 on a channel that has no timeout of its own. */
public final class Lines {
    private Lines() {}

    /** The text before the first line feed; {@link IOException} when it is longer or the channel ends before. */
    public static String read(ByteChannel channel, int maxBytes) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        ByteBuffer buffer = ByteBuffer.allocate(8_192);
        while (channel.read(buffer) >= 0) {
            buffer.flip();
            while (buffer.hasRemaining()) {
                byte b = buffer.get();
                if (b == '\n') {
                    return line.toString(StandardCharsets.UTF_8);
                }
                if (line.size() == maxBytes) {
                    throw new IOException("the line is longer than " + maxBytes + " bytes");
                }
                line.write(b);
            }
            buffer.clear();
        }
        throw new EOFException("the connection ended before the line did");
    }

    /** Writes the text and a line feed. */
    public static void write(ByteChannel channel, String line) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    /** Closes the channel after that time unless the returned thread is interrupted before. */
    public static Thread closeAfter(Channel channel, Duration time) {
        return Thread.ofVirtual().name("admin-deadline").start(() -> {
            try {
                Thread.sleep(time);
                channel.close();
            } catch (InterruptedException e) {
                // in time
            } catch (IOException e) {
                // closed by the other side
            }
        });
    }
}
