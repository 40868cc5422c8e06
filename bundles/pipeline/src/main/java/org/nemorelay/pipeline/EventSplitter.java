package org.nemorelay.pipeline;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.StreamEvent;

/** Cuts a stream of server-sent events behind each blank line, whatever its line ends. Not safe for several threads. */
public final class EventSplitter {
    private final ModelApi api;
    private byte[] kept = new byte[0];
    /** Of the kept bytes, which hold no whole event, this many were looked at. */
    private int seen;

    private boolean lineEmpty = true;
    private boolean afterReturn;
    /** The event is over; a line feed may still belong to its last line's end. */
    private boolean over;

    public EventSplitter(ModelApi api) {
        this.api = api;
    }

    /** The events that these bytes complete. */
    public List<StreamEvent> add(byte[] bytes) {
        byte[] all = bytes;
        if (kept.length > 0) {
            all = Arrays.copyOf(kept, kept.length + bytes.length);
            System.arraycopy(bytes, 0, all, kept.length, bytes.length);
        }
        List<StreamEvent> events = new ArrayList<>();
        int begin = 0;
        int at = seen;
        while (at < all.length) {
            byte b = all[at];
            if (over) {
                // A carriage return ended it: is this its line feed?
                over = false;
                int end = b == '\n' ? at + 1 : at;
                events.add(event(all, begin, end));
                begin = end;
                lineEmpty = true;
                if (b == '\n') {
                    at++;
                    continue;
                }
            }
            if (b == '\n' && afterReturn) {
                afterReturn = false;
            } else if (b == '\n' || b == '\r') {
                afterReturn = b == '\r';
                if (!lineEmpty) {
                    lineEmpty = true;
                } else if (b == '\n') {
                    events.add(event(all, begin, at + 1));
                    begin = at + 1;
                } else {
                    over = true;
                    afterReturn = false;
                }
            } else {
                afterReturn = false;
                lineEmpty = false;
            }
            at++;
        }
        kept = begin == 0 ? all : Arrays.copyOfRange(all, begin, all.length);
        seen = kept.length;
        return events;
    }

    /** What is left when the stream ends: an event without the blank line that should end it. */
    public List<StreamEvent> rest() {
        byte[] left = kept;
        kept = new byte[0];
        seen = 0;
        return left.length == 0 ? List.of() : List.of(StreamEvent.ofRaw(api, left));
    }

    /** How many bytes wait for the end of their event. */
    public int waiting() {
        return kept.length;
    }

    private StreamEvent event(byte[] all, int begin, int end) {
        return StreamEvent.ofRaw(api, Arrays.copyOfRange(all, begin, end));
    }
}
