package org.nemorelay.http;

import java.util.EnumSet;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Locale;
import java.util.Set;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpTokens;
import org.nemorelay.protocol.Headers;

/** Which headers a hop passes on (relay-daemon 6.3). Order and repetition are kept. */
public final class HeaderRules {
    private static final EnumSet<HttpHeader> HOP_BY_HOP = EnumSet.of(
            HttpHeader.CONNECTION,
            HttpHeader.KEEP_ALIVE,
            HttpHeader.PROXY_AUTHENTICATE,
            HttpHeader.PROXY_AUTHORIZATION,
            HttpHeader.PROXY_CONNECTION,
            HttpHeader.TE,
            HttpHeader.TRANSFER_ENCODING,
            HttpHeader.UPGRADE);

    private HeaderRules() {}

    /** Whether every {@code Connection} value is a list of tokens (RFC 9110 7.6.1), as the rules need to read it. */
    public static boolean connectionReadable(HttpFields headers) {
        for (HttpField field : headers) {
            if (field.getHeader() == HttpHeader.CONNECTION
                    && field.getValue() != null
                    && !isTokenList(field.getValue())) {
                return false;
            }
        }
        return true;
    }

    private static boolean isTokenList(String value) {
        boolean inToken = false;
        boolean afterToken = false;
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == ',') {
                inToken = false;
                afterToken = false;
            } else if (c == ' ' || c == '\t') {
                afterToken |= inToken;
                inToken = false;
            } else if (afterToken || !isTokenCharacter(c)) {
                return false;
            } else {
                inToken = true;
            }
        }
        return true;
    }

    private static boolean isTokenCharacter(char c) {
        HttpTokens.Token token = HttpTokens.getToken(c);
        return token != null && token.isRfc2616Token();
    }

    /** Adds to {@code to} what is end to end in {@code from}; the relay's two token headers never are. */
    public static void copyEndToEnd(HttpFields from, HttpFields.Mutable to) {
        Set<String> nominated = nominated(from);
        for (HttpField field : from) {
            if (passes(field, nominated)) {
                to.add(field);
            }
        }
    }

    /** What may stand in trailers: nothing of this hop, and nothing that would frame the body again (RFC 9110 6.5.1). */
    public static HttpFields trailers(HttpFields from) {
        if (from == null || from.size() == 0) {
            return from;
        }
        HttpFields.Mutable to = HttpFields.build();
        copyEndToEnd(from, to);
        to.remove(HttpHeader.CONTENT_LENGTH);
        return to;
    }

    /** As {@link #copyEndToEnd}, with {@code Host} rewritten in its place, or added last where there was none. */
    public static void copyRequest(HttpFields from, HttpFields.Mutable to, String host) {
        Set<String> nominated = nominated(from);
        boolean placed = false;
        for (HttpField field : from) {
            if (field.getHeader() == HttpHeader.HOST) {
                if (!placed) {
                    to.add(HttpHeader.HOST, host);
                    placed = true;
                }
            } else if (passes(field, nominated)) {
                to.add(field);
            }
        }
        if (!placed) {
            to.add(HttpHeader.HOST, host);
        }
    }

    /** Removes every {@code x-nemo-relay-*} header. */
    public static void removePrivate(HttpFields.Mutable headers) {
        for (Iterator<HttpField> fields = headers.iterator(); fields.hasNext(); ) {
            if (isPrivate(fields.next().getName())) {
                fields.remove();
            }
        }
    }

    /** Whether the name begins with {@code x-nemo-relay-}, in any case. */
    public static boolean isPrivate(String name) {
        return name.length() > Headers.PRIVATE_PREFIX.length()
                && name.regionMatches(true, 0, Headers.PRIVATE_PREFIX, 0, Headers.PRIVATE_PREFIX.length());
    }

    private static boolean passes(HttpField field, Set<String> nominated) {
        HttpHeader known = field.getHeader();
        if (known != null) {
            return !HOP_BY_HOP.contains(known) && (nominated.isEmpty() || !nominated.contains(known.lowerCaseName()));
        }
        String name = field.getName();
        if (isPrivate(name)
                && (name.equalsIgnoreCase(Headers.CLIENT_TOKEN) || name.equalsIgnoreCase(Headers.WORKER_TOKEN))) {
            return false;
        }
        return nominated.isEmpty() || !nominated.contains(name.toLowerCase(Locale.ROOT));
    }

    private static Set<String> nominated(HttpFields headers) {
        Set<String> names = Set.of();
        for (HttpField field : headers) {
            if (field.getHeader() == HttpHeader.CONNECTION) {
                for (String value : field.getValues()) {
                    if (!value.equalsIgnoreCase("keep-alive") && !value.equalsIgnoreCase("close")) {
                        if (names.isEmpty()) {
                            names = new HashSet<>();
                        }
                        names.add(value.toLowerCase(Locale.ROOT));
                    }
                }
            }
        }
        return names;
    }
}
