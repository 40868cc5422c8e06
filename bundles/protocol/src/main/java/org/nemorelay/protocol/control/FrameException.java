package org.nemorelay.protocol.control;

/** A frame that breaks the protocol; its receiver drops the socket. */
public final class FrameException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What is wrong, as in the daemon's disconnect reasons (relay-daemon 3.8). */
    public enum Reason {
        /** Not JSON, or not a frame of the protocol. */
        MALFORMED,
        /** The outer request id is empty or longer than 128 bytes. */
        INVALID_REQUEST_ID,
        /** More than {@link FrameCodec#MAX_FRAME} bytes. */
        TOO_LARGE
    }

    private final Reason reason;

    FrameException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
