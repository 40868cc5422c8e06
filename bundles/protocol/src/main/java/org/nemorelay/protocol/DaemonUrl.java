package org.nemorelay.protocol;

import java.net.InetAddress;
import java.util.Locale;
import java.util.OptionalLong;

/**
 * The address of a daemon (relay-daemon 1.7). It has two spellings: {@link #argument()} keeps the port and goes to child
 * processes, {@link #origin()} is the canonical form that both sides sign.
 *
 * @param host canonical: lower case, dotted IPv4, bracketed IPv6
 */
public record DaemonUrl(boolean secure, String host, int port) {
    private static final String NOT_ABSOLUTE = "daemon address must be an absolute HTTP or HTTPS URL";

    /** The address that the text spells; {@link FailureKind#INVALID_ARGUMENT} with one line that says which rule it breaks. */
    public static DaemonUrl parse(String text) {
        if (text.isEmpty()) {
            throw refused(NOT_ABSOLUTE);
        }
        int schemeEnd = text.indexOf("://");
        String scheme = schemeEnd < 0 ? "" : text.substring(0, schemeEnd).toLowerCase(Locale.ROOT);
        boolean secure = scheme.equals("https");
        if (!secure && !scheme.equals("http")) {
            throw refused("daemon address must use http or https");
        }
        int start = schemeEnd + 3;
        int end = authorityEnd(text, start);
        String authority = text.substring(start, end);
        String rest = text.substring(end);
        int hostEnd = authority.startsWith("[") ? authority.indexOf(']') + 1 : authority.lastIndexOf(':');
        String place = authority.substring(authority.lastIndexOf('@') + 1);
        if (place.isEmpty() || place.startsWith(":")) {
            throw refused(NOT_ABSOLUTE);
        }
        if (authority.indexOf('@') >= 0 || !rest.isEmpty() && !rest.equals("/")) {
            throw refused("daemon address cannot contain credentials, a non-root path, query, or fragment");
        }
        if (hostEnd < 1 || hostEnd + 1 >= authority.length() || authority.charAt(hostEnd) != ':') {
            throw refused("daemon address must include an explicit port");
        }
        int port = port(authority.substring(hostEnd + 1));
        String host = host(authority.substring(0, hostEnd));
        if (host.equals("0.0.0.0") || host.equals("[::]")) {
            throw refused(host + " is a bind address and cannot be a daemon target");
        }
        DaemonUrl url = new DaemonUrl(secure, host, port);
        if (!secure && !url.loopback()) {
            throw refused("non-loopback daemon addresses must use https");
        }
        return url;
    }

    /** The spelling for command lines: the port always stands. */
    public String argument() {
        return scheme() + "://" + host + ":" + port;
    }

    /** The spelling that is signed and pinned: without the scheme's default port. */
    public String origin() {
        return port == (secure ? 443 : 80) ? scheme() + "://" + host : argument();
    }

    public String scheme() {
        return secure ? "https" : "http";
    }

    /** Whether the host is {@code localhost}, in 127/8, or {@code [::1]}. */
    public boolean loopback() {
        return host.equals("localhost")
                || host.equals("[::1]")
                || host.startsWith("127.") && ipv4(host).isPresent();
    }

    /** The host as a resolver takes it: without brackets. */
    public String hostName() {
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }

    @Override
    public String toString() {
        return argument();
    }

    private static int authorityEnd(String text, int start) {
        for (int i = start; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '/' || c == '?' || c == '#' || c == '\\') {
                return i;
            }
        }
        return text.length();
    }

    private static int port(String digits) {
        int port = 0;
        for (int i = 0; i < digits.length(); i++) {
            char c = digits.charAt(i);
            port = c < '0' || c > '9' || port > 0xffff ? 0x10000 : port * 10 + (c - '0');
        }
        if (port == 0 || port > 0xffff) {
            throw refused("the port of a daemon address must be a number from 1 to 65535");
        }
        return port;
    }

    private static String host(String written) {
        if (written.startsWith("[")) {
            return ipv6(written.substring(1, written.length() - 1));
        }
        String host = written.toLowerCase(Locale.ROOT);
        for (int i = 0; i < host.length(); i++) {
            char c = host.charAt(i);
            boolean allowed = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_';
            if (!allowed) {
                throw refused(NOT_ABSOLUTE);
            }
        }
        String name = host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
        if (!numeric(name.substring(name.lastIndexOf('.') + 1))) {
            return host;
        }
        OptionalLong address = ipv4(name);
        if (address.isEmpty()) {
            throw refused("the host of a daemon address ends in a number and is no IPv4 address");
        }
        long bits = address.getAsLong();
        return (bits >> 24) + "." + (bits >> 16 & 0xff) + "." + (bits >> 8 & 0xff) + "." + (bits & 0xff);
    }

    /** A host whose last label is one is an IPv4 address or nothing. */
    private static boolean numeric(String label) {
        for (int i = 0; i < label.length(); i++) {
            if (label.charAt(i) < '0' || label.charAt(i) > '9') {
                return number(label) >= 0;
            }
        }
        return !label.isEmpty();
    }

    /** URL rules for IPv4: one to four decimal, octal or hexadecimal parts, the last of which fills what is left. */
    private static OptionalLong ipv4(String host) {
        long address = 0;
        int parts = 0;
        int start = 0;
        while (true) {
            int dot = host.indexOf('.', start);
            long number = number(dot < 0 ? host.substring(start) : host.substring(start, dot));
            if (number < 0 || ++parts > 4) {
                return OptionalLong.empty();
            }
            if (dot < 0) {
                long room = 1L << 8 * (5 - parts);
                return number < room ? OptionalLong.of(address + number) : OptionalLong.empty();
            }
            if (number > 255) {
                return OptionalLong.empty();
            }
            address |= number << 8 * (4 - parts);
            start = dot + 1;
        }
    }

    private static long number(String part) {
        int radix = 10;
        String digits = part;
        if (part.startsWith("0x")) {
            radix = 16;
            digits = part.substring(2);
        } else if (part.length() > 1 && part.charAt(0) == '0') {
            radix = 8;
            digits = part.substring(1);
        }
        if (digits.isEmpty() || digits.length() > 11) {
            return -1;
        }
        long value = 0;
        for (int i = 0; i < digits.length(); i++) {
            int digit = Character.digit(digits.charAt(i), radix);
            if (digit < 0) {
                return -1;
            }
            value = value * radix + digit;
        }
        return value;
    }

    private static String ipv6(String literal) {
        byte[] bytes;
        try {
            bytes = InetAddress.ofLiteral(literal).getAddress();
        } catch (IllegalArgumentException e) {
            throw refused(NOT_ABSOLUTE);
        }
        if (bytes.length == 4 && literal.indexOf(':') >= 0) {
            throw refused("the host of a daemon address is an IPv4 address in the form of IPv6; write it as IPv4");
        }
        if (bytes.length != 16 || literal.indexOf('%') >= 0) {
            throw refused(NOT_ABSOLUTE);
        }
        int bestStart = -1;
        int bestLength = 1;
        for (int i = 0; i < 8; i++) {
            int length = 0;
            while (i + length < 8 && group(bytes, i + length) == 0) {
                length++;
            }
            if (length > bestLength) {
                bestStart = i;
                bestLength = length;
            }
        }
        StringBuilder out = new StringBuilder("[");
        for (int i = 0; i < 8; i++) {
            if (i == bestStart) {
                out.append("::");
                i += bestLength - 1;
            } else {
                if (out.length() > 1 && out.charAt(out.length() - 1) != ':') {
                    out.append(':');
                }
                out.append(Integer.toHexString(group(bytes, i)));
            }
        }
        return out.append(']').toString();
    }

    private static int group(byte[] bytes, int index) {
        return (bytes[2 * index] & 0xff) << 8 | bytes[2 * index + 1] & 0xff;
    }

    private static RelayException refused(String message) {
        return new RelayException(FailureKind.INVALID_ARGUMENT, message);
    }
}
