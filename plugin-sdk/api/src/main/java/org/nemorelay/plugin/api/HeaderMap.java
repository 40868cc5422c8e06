package org.nemorelay.plugin.api;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The headers of a request or response: ordered, names in any case, a name as often as it came. Immutable.
 *
 * <p>A request's hold no credentials (plugins.md 1.6): those reach the provider unseen, unless a plugin sets a header of
 * the same name.
 */
public final class HeaderMap {
    /** One header. */
    public record Header(String name, String value) {
        public Header {
            if (!isToken(name)) {
                throw new IllegalArgumentException("\"" + name + "\" is no header name");
            }
            if (value == null || !isFieldValue(value)) {
                throw new IllegalArgumentException("the value of header " + name
                        + (value == null
                                ? " is null"
                                : " holds a control character, or one that is not in ISO 8859-1"));
            }
        }

        /** Leaves the value out: it may be a secret. */
        @Override
        public String toString() {
            return name;
        }
    }

    /** The characters of a name. */
    private static final boolean[] TOKEN = tokens();

    private static final HeaderMap EMPTY = new HeaderMap(List.of());

    private final List<Header> headers;

    private HeaderMap(List<Header> headers) {
        this.headers = headers;
    }

    public static HeaderMap of() {
        return EMPTY;
    }

    public static HeaderMap of(List<Header> headers) {
        return new HeaderMap(List.copyOf(headers));
    }

    /** In their order. */
    public List<Header> list() {
        return headers;
    }

    /** The first value of a name. */
    public Optional<String> first(String name) {
        for (Header header : headers) {
            if (header.name().equalsIgnoreCase(name)) {
                return Optional.of(header.value());
            }
        }
        return Optional.empty();
    }

    /** Every value of a name, in order. */
    public List<String> all(String name) {
        List<String> values = List.of();
        for (Header header : headers) {
            if (header.name().equalsIgnoreCase(name)) {
                if (values.isEmpty()) {
                    values = List.of(header.value());
                } else {
                    values = new ArrayList<>(values);
                    values.add(header.value());
                }
            }
        }
        return Collections.unmodifiableList(values);
    }

    public boolean has(String name) {
        return first(name).isPresent();
    }

    /** The names in lower case, sorted. */
    public Set<String> names() {
        Set<String> names = new TreeSet<>();
        headers.forEach(header -> names.add(header.name().toLowerCase(Locale.ROOT)));
        return names;
    }

    /** The names, in lower case and sorted, of which these headers have other values than those, or the same in another order. */
    public Set<String> namesChangedFrom(HeaderMap before) {
        if (this == before) {
            return Set.of();
        }
        // Most changes are at the end, where a header is added.
        int same = 0;
        int shorter = Math.min(headers.size(), before.headers.size());
        while (same < shorter && same(headers.get(same), before.headers.get(same))) {
            same++;
        }
        Set<String> names = new TreeSet<>();
        for (List<Header> list : List.of(headers, before.headers)) {
            for (Header header : list.subList(same, list.size())) {
                names.add(header.name().toLowerCase(Locale.ROOT));
            }
        }
        if (same < shorter) {
            names.removeIf(name -> all(name).equals(before.all(name)));
        }
        return names;
    }

    private static boolean same(Header one, Header other) {
        return one == other || one.equals(other);
    }

    /** With exactly one header of the name: in the place of the first one, or last. */
    public HeaderMap with(String name, String value) {
        Header replacement = new Header(name, value);
        List<Header> changed = new ArrayList<>(headers.size() + 1);
        boolean placed = false;
        for (Header header : headers) {
            if (!header.name().equalsIgnoreCase(name)) {
                changed.add(header);
            } else if (!placed) {
                changed.add(replacement);
                placed = true;
            }
        }
        if (!placed) {
            changed.add(replacement);
        }
        return new HeaderMap(changed);
    }

    /** With one header more, last. */
    public HeaderMap adding(String name, String value) {
        List<Header> changed = new ArrayList<>(headers);
        changed.add(new Header(name, value));
        return new HeaderMap(changed);
    }

    /** Without any header of the name. */
    public HeaderMap without(String name) {
        return has(name)
                ? new HeaderMap(headers.stream()
                        .filter(header -> !header.name().equalsIgnoreCase(name))
                        .toList())
                : this;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof HeaderMap map && headers.equals(map.headers);
    }

    @Override
    public int hashCode() {
        return headers.hashCode();
    }

    /** The names alone. */
    @Override
    public String toString() {
        return headers.toString();
    }

    // Loops, for every header that a plugin sets comes by.

    private static boolean isToken(String name) {
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c >= 0x7f || !TOKEN[c]) {
                return false;
            }
        }
        return !name.isEmpty();
    }

    private static boolean[] tokens() {
        boolean[] tokens = new boolean[0x7f];
        for (char c = 0x21; c < 0x7f; c++) {
            tokens[c] = "\"(),/:;<=>?@[\\]{}".indexOf(c) < 0;
        }
        return tokens;
    }

    private static boolean isFieldValue(String value) {
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c < 0x20 && c != '\t' || c == 0x7f || c > 0xff) {
                return false;
            }
        }
        return true;
    }
}
