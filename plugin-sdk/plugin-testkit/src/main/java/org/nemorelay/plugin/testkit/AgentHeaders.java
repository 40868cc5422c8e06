package org.nemorelay.plugin.testkit;

import java.util.Locale;
import java.util.Set;
import org.nemorelay.plugin.api.HeaderMap;
import org.nemorelay.protocol.Headers;
import org.nemorelay.protocol.Secrets;

/** What plugins see of an agent's headers, and what they make of them, as in a worker. Stateless. */
final class AgentHeaders {
    private AgentHeaders() {}

    /** Without credentials and what is the relay's own. */
    static HeaderMap shown(HeaderMap headers) {
        return HeaderMap.of(headers.list().stream()
                .filter(header -> !isPrivate(header.name()) && !Secrets.isSecret(header.name(), header.value()))
                .toList());
    }

    /** What the provider gets: what was not shown stays, unless a plugin has set it. */
    static HeaderMap sent(HeaderMap headers, HeaderMap shown, HeaderMap changed) {
        HeaderMap sent = HeaderMap.of(headers.list().stream()
                .filter(header -> !isPrivate(header.name()))
                .toList());
        Set<String> names = changed.namesChangedFrom(shown);
        for (String name : names) {
            sent = sent.without(name);
        }
        for (HeaderMap.Header header : changed.list()) {
            if (names.contains(header.name().toLowerCase(Locale.ROOT)) && !isPrivate(header.name())) {
                sent = sent.adding(header.name(), header.value());
            }
        }
        return sent;
    }

    private static boolean isPrivate(String name) {
        return name.toLowerCase(Locale.ROOT).startsWith(Headers.PRIVATE_PREFIX);
    }
}
