package org.nemorelay.config.internal;

import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.Optional;
import org.nemorelay.config.PluginPlan.Position;

/** What a setting accepts, in a file as a TOML scalar, in the environment and on the command line as text. */
enum SettingType {
    TEXT("a non-empty string"),
    PATH("a non-empty path"),
    FLAG("true or false"),
    BIND("127.0.0.1 or 0.0.0.0"),
    PORT("an integer from 1 through 65535"),
    TOKEN_LIMIT("an integer from 1 through 64"),
    POSITIVE("a positive integer"),
    POSITIVE_INT("an integer from 1 through 2147483647"),
    UNSIGNED("an integer of 0 or more"),
    QUEUE("an integer from 1 through 8192"),
    RETAINED("an integer from 1 through 9"),
    BASE_URL("an absolute https URL (http on loopback only) without credentials, query or fragment"),
    NETWORKS("one string of IP addresses and networks such as 10.0.0.0/8, separated by commas"),
    HEADER("a non-empty header value of printable ASCII"),
    LEVEL("\"error\", \"warn\", \"info\", \"debug\" or \"trace\""),
    FORMAT("\"human\" or \"jsonl\"");

    private final String expected;

    SettingType(String expected) {
        this.expected = expected;
    }

    /** What is accepted, to stand after "must be". */
    String expected() {
        return expected;
    }

    /** What is wrong with a value that is not accepted, to stand after the key; text is not repeated, it may be a credential. */
    String wrong(TomlValue value) {
        String problem = "must be " + expected;
        if (value instanceof TomlValue.Scalar(Object scalar, Position _)) {
            if (scalar instanceof Long && number()) {
                return problem + ", it is " + scalar;
            }
            if (scalar instanceof String && !number() && this != FLAG) {
                return problem + (scalar.equals("") ? ", it is empty" : "");
            }
        }
        return problem + ", it is " + value.kind();
    }

    private boolean number() {
        return switch (this) {
            case PORT, TOKEN_LIMIT, POSITIVE, POSITIVE_INT, UNSIGNED, QUEUE, RETAINED -> true;
            default -> false;
        };
    }

    /** The value that text from a flag or a variable stands for; empty when it is not accepted. */
    Optional<Object> fromText(String text) {
        String stripped = text.strip();
        return switch (this) {
            case FLAG ->
                switch (stripped) {
                    case "true" -> Optional.of(true);
                    case "false" -> Optional.of(false);
                    default -> Optional.empty();
                };
            case PORT, TOKEN_LIMIT, POSITIVE, POSITIVE_INT, UNSIGNED, QUEUE, RETAINED -> {
                try {
                    yield from(Long.parseLong(stripped));
                } catch (NumberFormatException e) {
                    yield Optional.empty();
                }
            }
            default -> from(stripped);
        };
    }

    /** The value that a TOML scalar stands for; empty when it is not accepted. */
    Optional<Object> from(Object scalar) {
        return switch (this) {
            case FLAG -> scalar instanceof Boolean ? Optional.of(scalar) : Optional.empty();
            case PORT -> integer(scalar, 1, 65_535);
            case TOKEN_LIMIT -> integer(scalar, 1, 64);
            case POSITIVE -> integer(scalar, 1, Long.MAX_VALUE);
            case POSITIVE_INT -> integer(scalar, 1, Integer.MAX_VALUE);
            case UNSIGNED -> integer(scalar, 0, Long.MAX_VALUE);
            case QUEUE -> integer(scalar, 1, 8_192);
            case RETAINED -> integer(scalar, 1, 9);
            case TEXT, PATH, BIND, BASE_URL, NETWORKS, HEADER, LEVEL, FORMAT ->
                scalar instanceof String text ? string(text.strip()) : Optional.empty();
        };
    }

    private static Optional<Object> integer(Object scalar, long min, long max) {
        return scalar instanceof Long number && number >= min && number <= max ? Optional.of(number) : Optional.empty();
    }

    private Optional<Object> string(String text) {
        boolean accepted = switch (this) {
            case BIND -> text.equals("127.0.0.1") || text.equals("0.0.0.0");
            case BASE_URL ->
                baseUrl(text)
                        .filter(url -> url.getScheme().equalsIgnoreCase("https") || loopback(url.getHost()))
                        .isPresent();
            case NETWORKS -> networks(text);
            case HEADER -> printable(text);
            case LEVEL ->
                switch (text) {
                    case "error", "warn", "info", "debug", "trace" -> true;
                    default -> false;
                };
            case FORMAT -> text.equals("human") || text.equals("jsonl");
            default -> !text.isEmpty();
        };
        return accepted ? Optional.of(text) : Optional.empty();
    }

    private static Optional<URI> baseUrl(String text) {
        try {
            URI url = new URI(text);
            String scheme = url.getScheme() == null ? "" : url.getScheme().toLowerCase(Locale.ROOT);
            boolean accepted = (scheme.equals("http") || scheme.equals("https"))
                    && url.getHost() != null
                    && url.getRawUserInfo() == null
                    && url.getRawQuery() == null
                    && url.getRawFragment() == null
                    && url.getPort() <= 65_535;
            return accepted ? Optional.of(url) : Optional.empty();
        } catch (URISyntaxException e) {
            return Optional.empty();
        }
    }

    private static boolean networks(String text) {
        for (String each : text.split(",", -1)) {
            String one = each.strip();
            int slash = one.indexOf('/');
            try {
                int bits = InetAddress.ofLiteral(slash < 0 ? one : one.substring(0, slash))
                                .getAddress()
                                .length
                        * 8;
                int prefix = slash < 0 ? bits : Integer.parseInt(one.substring(slash + 1));
                if (prefix < 0 || prefix > bits) {
                    return false;
                }
            } catch (IllegalArgumentException e) {
                return false;
            }
        }
        return true;
    }

    private static boolean loopback(String host) {
        return host.equalsIgnoreCase("localhost") || host.equals("[::1]") || ipv4Loopback(host);
    }

    private static boolean ipv4Loopback(String host) {
        return host.startsWith("127.") && host.chars().allMatch(c -> c == '.' || c >= '0' && c <= '9');
    }

    private static boolean printable(String text) {
        return !text.isEmpty() && text.chars().allMatch(c -> c >= 0x20 && c < 0x7f || c == '\t');
    }
}
