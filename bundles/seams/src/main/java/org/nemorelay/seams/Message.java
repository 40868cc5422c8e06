package org.nemorelay.seams;

import java.util.Map;

/**
 * One message of a fan-out. The body is passed on byte for byte and belongs to everybody who holds the message: nobody
 * changes it. Headers are metadata of the transport's envelope; a peer that knows none sees the same body.
 */
public record Message(String subject, Map<String, String> headers, byte[] body) {
    public Message {
        headers = Map.copyOf(headers);
    }

    public static Message of(String subject, byte[] body) {
        return new Message(subject, Map.of(), body);
    }

    @Override
    public String toString() {
        return "Message[" + subject + ", " + body.length + " bytes]";
    }
}
