package org.nemorelay.carriers.internal;

import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.seams.Message;

/**
 * The place of a message among those of its publisher, in the header {@value #HEADER}: of one length always, so that what
 * it takes from the payload limit is known.
 *
 * @param publisher a process, at random
 * @param number counts its messages
 * @param epoch counts its carriers; messages of one epoch took one way and arrive in order
 * @param also the other epoch that the same message went out on, 0 for none
 */
record Order(long publisher, long number, int epoch, int also) {
    static final String HEADER = "Nemo-Order";
    static final int LENGTH = 48;

    /** Whether the same message comes on the way before this one too, and what came before it there. */
    boolean alsoOnAnOlderWay() {
        return also != 0 && also < epoch;
    }

    /** The message with this order. */
    Message on(Message message) {
        return on(message, publisher(publisher), number, ways(epoch, also));
    }

    /** As {@link #on(Message)}, for a sender that keeps the parts that do not change. */
    static Message on(Message message, String publisher, long number, String ways) {
        String value = publisher + HexFormat.of().toHexDigits(number) + ways;
        return new Message(message.subject(), with(message.headers(), value), message.body());
    }

    static String publisher(long publisher) {
        return HexFormat.of().toHexDigits(publisher);
    }

    static String ways(int epoch, int also) {
        return HexFormat.of().toHexDigits(epoch) + HexFormat.of().toHexDigits(also);
    }

    private static Map<String, String> with(Map<String, String> headers, String value) {
        if (headers.isEmpty()) {
            return Map.of(HEADER, value);
        }
        Map<String, String> all = new java.util.HashMap<>(headers);
        all.put(HEADER, value);
        return all;
    }

    /** The order of a message; empty for one of another product. */
    static Optional<Order> of(Message message) {
        String value = message.headers().get(HEADER);
        if (value == null || value.length() != LENGTH) {
            return Optional.empty();
        }
        try {
            return Optional.of(new Order(
                    HexFormat.fromHexDigitsToLong(value, 0, 16),
                    HexFormat.fromHexDigitsToLong(value, 16, 32),
                    HexFormat.fromHexDigits(value, 32, 40),
                    HexFormat.fromHexDigits(value, 40, 48)));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** The message as its publisher sent it. */
    static Message stripped(Message message) {
        if (message.headers().size() == 1) {
            return Message.of(message.subject(), message.body());
        }
        Map<String, String> rest = new java.util.HashMap<>(message.headers());
        rest.remove(HEADER);
        return new Message(message.subject(), rest, message.body());
    }
}
