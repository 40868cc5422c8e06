package org.nemorelay.http;

import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpFields;
import org.osgi.annotation.versioning.ConsumerType;

/**
 * Sees what passes through one exchange. Called on I/O threads, in the order of the stream in each direction; a call
 * must neither block nor throw, and buffers and headers are lent for its duration only.
 */
@ConsumerType
public interface ExchangeListener {
    /** Sees nothing and costs nothing. */
    ExchangeListener NONE = new ExchangeListener() {};

    /** Whether to call {@link #requestBytes} and {@link #responseBytes}; asked once, before the exchange begins. */
    default boolean wantsBytes() {
        return false;
    }

    /**
     * The exchange begins, and {@code cut} ends it as if upstream had broken off: its request is not sent again. It may be
     * run on any thread and at any time; after the end it does nothing.
     */
    default void begin(Runnable cut) {}

    /** Bytes of the request's body that were read from the client; read-only. */
    default void requestBytes(ByteBuffer bytes) {}

    /** The request's body was read to its end. */
    default void requestEnd() {}

    /** The final response's head as the client gets it. */
    default void responseHead(int status, HttpFields headers) {}

    /** Bytes of the response's body that were read from upstream; read-only. */
    default void responseBytes(ByteBuffer bytes) {}

    /** The exchange is over; called exactly once, last. */
    default void end(Outcome outcome) {}
}
