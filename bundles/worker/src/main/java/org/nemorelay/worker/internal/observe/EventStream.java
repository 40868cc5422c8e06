package org.nemorelay.worker.internal.observe;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** Splits server-sent events out of bytes as they come; hands on the data of each. Not safe for several threads. */
final class EventStream {
    private final Consumer<String> events;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream(512);
    private final StringBuilder data = new StringBuilder();
    private boolean hasData;
    private boolean afterReturn;

    EventStream(Consumer<String> events) {
        this.events = events;
    }

    void bytes(byte[] bytes, int length) {
        int begin = 0;
        for (int i = 0; i < length; i++) {
            byte b = bytes[i];
            if (b == '\n' && afterReturn) {
                begin = i + 1;
                afterReturn = false;
            } else if (b == '\n' || b == '\r') {
                line.write(bytes, begin, i - begin);
                begin = i + 1;
                afterReturn = b == '\r';
                line();
            } else {
                afterReturn = false;
            }
        }
        line.write(bytes, begin, length - begin);
    }

    /** An event without the blank line that should end it still counts: the stream may have been cut there. */
    void end() {
        if (line.size() > 0) {
            line();
        }
        dispatch();
    }

    private void line() {
        if (line.size() == 0) {
            dispatch();
            return;
        }
        String text = line.toString(StandardCharsets.UTF_8);
        line.reset();
        if (text.startsWith("data:")) {
            if (hasData) {
                data.append('\n');
            }
            hasData = true;
            data.append(text, text.startsWith("data: ") ? 6 : 5, text.length());
        }
    }

    private void dispatch() {
        if (hasData) {
            hasData = false;
            String text = data.toString();
            data.setLength(0);
            events.accept(text);
        }
    }
}
