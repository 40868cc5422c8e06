package org.nemorelay.protocol.control;

import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;

/**
 * Control frames to text and back (relay-daemon 3.1, 3.4, 3.6). Unknown fields are ignored, optional ones may be missing;
 * everything else that does not fit is a {@link FrameException}. Decoding says nothing about signatures and limits of
 * the values: see {@code problem()} and {@code intact()} of the records. Stateless; safe for any thread.
 */
public final class FrameCodec {
    /** Bytes of the largest message. */
    public static final int MAX_FRAME = 262_144;

    private FrameCodec() {}

    public static String encode(CommandFrame frame) {
        return sized(Json.write(
                Json.object("request_id", frame.requestId(), "command", CommandCodec.json(frame.command()))));
    }

    public static String encode(ServerEvent event) {
        return sized(Json.write(EventCodec.json(event)));
    }

    public static CommandFrame decodeCommand(String text) {
        JsonObject frame = frame(text);
        try {
            String requestId = requestId(frame);
            return new CommandFrame(requestId, CommandCodec.command(frame.object("command")));
        } catch (JsonException e) {
            throw malformed(e);
        }
    }

    public static ServerEvent decodeEvent(String text) {
        JsonObject frame = frame(text);
        try {
            String requestId = requestId(frame);
            return EventCodec.event(requestId, frame);
        } catch (JsonException e) {
            throw malformed(e);
        }
    }

    private static JsonObject frame(String text) {
        sized(text);
        try {
            JsonObject frame = Json.parseObject(text);
            // Only an escape can name half a character, which no UTF-8 text holds: it could not be sent back.
            if (text.contains("\\u") && !Wire.whole(frame.values())) {
                throw new JsonException("a string holds half a surrogate pair");
            }
            return frame;
        } catch (JsonException e) {
            throw malformed(e);
        }
    }

    private static String sized(String text) {
        if (!Wire.within(text, MAX_FRAME)) {
            throw new FrameException(
                    FrameException.Reason.TOO_LARGE, "a control frame must have 1 to " + MAX_FRAME + " bytes");
        }
        return text;
    }

    private static String requestId(JsonObject frame) {
        String requestId = frame.string("request_id");
        if (!Wire.within(requestId, Wire.MAX_ID)) {
            throw new FrameException(
                    FrameException.Reason.INVALID_REQUEST_ID, "request_id must have 1 to " + Wire.MAX_ID + " bytes");
        }
        return requestId;
    }

    private static FrameException malformed(JsonException e) {
        return new FrameException(FrameException.Reason.MALFORMED, e.getMessage());
    }
}
