package org.nemorelay.protocol.control;

import java.util.List;

/** Names of what a component can do, as descriptors carry them (relay-daemon 3.3). */
public final class Capabilities {
    public static final String ACTIVATION_CANCEL = "activation_cancel_v1";
    public static final String HTTP1 = "http1";
    public static final String HTTP2 = "http2";
    public static final String SSE_PASSTHROUGH = "sse_passthrough";
    public static final String STREAMING_BODY_FRAMES = "streaming_body_frames";
    public static final String TRAILERS = "trailers";
    /** Known to this implementation only: guards extra commands and the choice of HTTP version between daemon and worker. */
    public static final String PEER = "nemo_relay_peer_v1";

    /** What an MCP process or worker must offer. */
    public static final List<String> REQUIRED = List.of(HTTP1, HTTP2, SSE_PASSTHROUGH, STREAMING_BODY_FRAMES, TRAILERS);
    /** What every component of this build offers, sorted. */
    public static final List<String> OURS =
            List.of(ACTIVATION_CANCEL, HTTP1, HTTP2, PEER, SSE_PASSTHROUGH, STREAMING_BODY_FRAMES, TRAILERS);

    static final int MAX_COUNT = 64;
    static final int MAX_LENGTH = 128;

    private Capabilities() {}

    /** Whether {@code name} may stand in a descriptor: 1..128 of {@code [a-z0-9._-]}. */
    public static boolean wellFormed(String name) {
        if (name.isEmpty() || name.length() > MAX_LENGTH) {
            return false;
        }
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            boolean allowed = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-';
            if (!allowed) {
                return false;
            }
        }
        return true;
    }
}
