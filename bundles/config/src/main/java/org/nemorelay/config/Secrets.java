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

    private static final Pattern COUNT = Pattern.compile("\\s*\\d{1,12}\\s*");

    /** A value of {@code Authorization}, a JWT, a URL that names its user. */
    private static final Pattern CREDENTIAL = Pattern.compile(
            "\\s*+(?:(?i:bearer|basic)\\s+\\S.*|eyJ[\\w-]+\\.[\\w-]+\\..*|(?i:[a-z][a-z0-9+.-]*)://[^/?#\\s]*@.*)",
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
            default -> isSecret(name, value.toString());
        };
    }

    // Every header of every request comes by here: expressions only for the few that may be one.
    private static boolean isSecret(String name, String text) {
        return named(name, text) || formed(text);
    }

    private static boolean formed(String text) {
        char first = text.isEmpty() ? ' ' : text.charAt(0);
        boolean url = text.contains("://");
        return (url || "bBe ".indexOf(first) >= 0) && CREDENTIAL.matcher(text).matches()
                || url && OF_QUERY.matcher(text).results().anyMatch(found -> named(found.group(1), found.group(2)));
    }

    private static boolean named(String name, String text) {
        StringBuilder joined = new StringBuilder(name.length());
        String before = "";
        boolean opens = false;
        for (int at = 0; at < name.length(); ) {
            int end = at;
            while (end < name.length() && isWord(name.charAt(end)) && !(end > at && begins(name, end))) {
                end++;
            }
            if (end > at) {
                String word = name.substring(at, end).toLowerCase(Locale.ROOT);
                if (!word.equals("tokens") || !COUNT.matcher(text).matches()) {
                    joined.append(word);
                }
                opens = (word.equals("key") || word.equals("keys")) && !OPEN_KEYS.contains(before);
                if (word.endsWith("auth") || WHOLE_WORDS.contains(word)) {
                    return true;
                }
                before = word;
            }
            at = end > at ? end : at + 1;
        }
        if (opens) {
            return true;
        }
        for (String word : WORDS) {
            if (joined.indexOf(word) >= 0) {
                return true;
            }
        }
        return false;
    }

    private static boolean isWord(char c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9';
    }

    /** As in {@code apiKey}. */
    private static boolean begins(String name, int at) {
        return Character.isUpperCase(name.charAt(at)) && !Character.isUpperCase(name.charAt(at - 1));
    }
}
