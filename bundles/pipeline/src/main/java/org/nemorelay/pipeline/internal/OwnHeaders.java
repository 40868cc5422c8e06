package org.nemorelay.pipeline.internal;

import java.util.Set;
import org.nemorelay.plugin.api.HeaderMap;

/** The headers that say how a message is sent: the relay's own, whatever a plugin says of them. Stateless. */
public final class OwnHeaders {
    private static final Set<String> NAMES = Set.of(
            "connection",
            "content-length",
            "content-encoding",
            "host",
            "keep-alive",
            "proxy-connection",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
            "expect");

    private OwnHeaders() {}

    /** @param name in lower case */
    public static boolean contains(String name) {
        return NAMES.contains(name);
    }

    /** A plugin's headers for bytes that are those of {@code received}: with its own ones in the place of the plugin's. */
    public static HeaderMap settled(HeaderMap headers, HeaderMap received) {
        HeaderMap settled = headers;
        for (String name : headers.namesChangedFrom(received)) {
            if (contains(name)) {
                settled = settled.without(name);
                for (String value : received.all(name)) {
                    settled = settled.adding(name, value);
                }
            }
        }
        return settled;
    }
}
