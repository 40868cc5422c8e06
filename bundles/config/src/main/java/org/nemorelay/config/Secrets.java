package org.nemorelay.config;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * What is a credential by its name or its form: keys of plugins' configuration and headers of requests, which records,
 * plugins and reports are not to have. Rather a harmless one too many than a credential.
 */
public final class Secrets {
    /** Anywhere in a name, whatever stands between its words. */
    private static final List<String> WORDS = List.of(
            "secret",
            "password",
            "passwd",
            "passphrase",
            "passcode",
            "credential",
            "token",
            "cookie",
            "authoriz",
            "authentic",
            "assertion",
            "jwt",
            "bearer",
            "apikey",
            "accesskey",
            "privatekey",
            "subscriptionkey");

    /** A word of a name. */
    private static final Set<String> WHOLE_WORDS = Set.of("pwd", "pass", "dpop", "otp");

    /** What a key may be that opens nothing. */
    private static final Set<String> OPEN_KEYS =
            Set.of("cache", "dedup", "deduplication", "idempotency", "partition", "public", "routing", "sort", "trace");

    private static final Pattern BETWEEN_WORDS = Pattern.compile("[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])");
    private static final Pattern COUNT = Pattern.compile("\\s*\\d{1,12}\\s*");

    /** A value of {@code Authorization}, a JWT, a URL that names its user. */
    private static final Pattern CREDENTIAL = Pattern.compile(
            "\\s*(?:(?i:bearer|basic)\\s+\\S.*|eyJ[\\w-]+\\.[\\w-]+\\..*|(?i:[a-z][a-z0-9+.-]*)://[^/?#\\s]*@.*)",
            Pattern.DOTALL);

    private static final Pattern OF_QUERY = Pattern.compile("[?&;]([^=&;#\\s]+)=([^&;#\\s]+)");

    private Secrets() {}

    /**
     * Whether a value under this name is a credential, as far as name and value tell. Numbers and booleans are none; a text of
     * digits under {@code ...tokens} counts tokens.
     *
     * @param value a text, a number, a boolean, or an array of them
     */
    public static boolean isSecret(String name, Object value) {
        return switch (value) {
            case Number number -> false;
            case Boolean bool -> false;
            case Object[] items -> Arrays.stream(items).anyMatch(item -> isSecret(name, item));
            default -> {
                String text = value.toString();
                yield isSecret(name, COUNT.matcher(text).matches())
                        || CREDENTIAL.matcher(text).matches()
                        || text.contains("://")
                                && OF_QUERY.matcher(text)
                                        .results()
                                        .anyMatch(found -> isSecret(
                                                found.group(1),
                                                COUNT.matcher(found.group(2)).matches()));
            }
        };
    }

    private static boolean isSecret(String name, boolean count) {
        String[] words = BETWEEN_WORDS.split(name);
        StringBuilder joined = new StringBuilder();
        String before = "";
        boolean opens = false;
        for (String each : words) {
            String word = each.toLowerCase(Locale.ROOT);
            if (!count || !word.equals("tokens")) {
                joined.append(word);
            }
            opens = (word.equals("key") || word.equals("keys")) && !OPEN_KEYS.contains(before);
            if (word.endsWith("auth") || WHOLE_WORDS.contains(word)) {
                return true;
            }
            before = word;
        }
        return opens || WORDS.stream().anyMatch(word -> joined.indexOf(word) >= 0);
    }
}
