package org.nemorelay.http.internal;

import java.util.EnumSet;
import java.util.Optional;
import org.eclipse.jetty.client.Response;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.nemorelay.http.HeaderRules;

/** Which heads are passed on. */
final class HeadRules {
    /** What each hop writes anew. */
    private static final EnumSet<HttpHeader> OF_THE_HOP =
            EnumSet.of(HttpHeader.DATE, HttpHeader.CONNECTION, HttpHeader.TRANSFER_ENCODING, HttpHeader.HOST);

    private HeadRules() {}

    /** What a head has too much of, counted alike by each hop: its bytes as HTTP/1.1 writes them, or its fields. */
    static Optional<String> excess(long line, HttpFields headers) {
        long bytes = line;
        int fields = 0;
        for (HttpField field : headers) {
            if (field.getHeader() == null || !OF_THE_HOP.contains(field.getHeader())) {
                fields++;
                bytes += field.getName().length() + 4L;
                bytes += field.getValue() == null ? 0 : field.getValue().length();
            }
        }
        return fields > UpstreamClient.MAX_FIELDS
                ? Optional.of("more than " + UpstreamClient.MAX_FIELDS + " fields")
                : bytes > UpstreamClient.HEAD_LIMIT
                        ? Optional.of("more than " + UpstreamClient.HEAD_LIMIT + " bytes")
                        : Optional.empty();
    }

    static boolean isVisibleAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) <= ' ' || text.charAt(i) > '~') {
                return false;
            }
        }
        return true;
    }

    /** What a provider did that makes its head none, as the rest of a sentence about it. */
    static Optional<String> problem(Response head) {
        int status = head.getStatus();
        if (status < 100 || status > 999) {
            return Optional.of("sent the status " + status + ", which is none");
        }
        Optional<String> excess = excess(0, head.getHeaders());
        if (excess.isPresent()) {
            return Optional.of("sent a head of " + excess.get());
        }
        if (status == 101 || head.getHeaders().contains(HttpHeader.UPGRADE)) {
            return Optional.of("tried to change the protocol");
        }
        return HeaderRules.connectionReadable(head.getHeaders())
                ? Optional.empty()
                : Optional.of("sent an invalid Connection header");
    }
}
