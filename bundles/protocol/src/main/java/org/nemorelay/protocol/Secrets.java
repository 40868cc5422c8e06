package org.nemorelay.protocol;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What is a credential by its name or its form: keys of plugins' configuration and headers of requests, which records,
 * plugins and reports are not to have. Rather a harmless one too many than a credential.
 */
public final class Secrets {
    /** Anywhere in a name, whatever stands between its words. */
    private static final List<Word> WORDS = Stream.of(
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
                    "subscriptionkey")
            .map(Word::new)
            .toList();

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
        char[] joined = new char[name.length()];
        int length = 0;
        int before = 0;
        boolean opens = false;
        for (int at = 0; at < name.length(); ) {
            int begin = length;
            do {
                char c = name.charAt(at);
                if (isWord(c)) {
                    joined[length++] = lower(c);
                }
                at++;
            } while (at < name.length() && isWord(name.charAt(at)) && !begins(name, at));
            int word = length - begin;
            if (word > 0) {
                if (is("tokens", joined, begin, word) && COUNT.matcher(text).matches()) {
                    length = begin;
                    before = begin;
                    opens = false;
                    continue;
                }
                opens = (is("key", joined, begin, word) || is("keys", joined, begin, word))
                        && !OPEN_KEYS.contains(new String(joined, before, begin - before));
                if (word >= 4 && is("auth", joined, length - 4, 4)
                        || word <= 4 && WHOLE_WORDS.contains(new String(joined, begin, word))) {
                    return true;
                }
                before = begin;
            }
        }
        return opens || holdsWord(new String(joined, 0, length));
    }

    private static boolean holdsWord(String joined) {
        int letters = letters(joined);
        for (Word word : WORDS) {
            if ((word.letters & ~letters) == 0 && joined.contains(word.text)) {
                return true;
            }
        }
        return false;
    }

    /** A bit for each letter that is in it. */
    private static int letters(String text) {
        int letters = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            letters |= c >= 'a' && c <= 'z' ? 1 << c - 'a' : 0;
        }
        return letters;
    }

    private static boolean is(String word, char[] joined, int begin, int length) {
        if (word.length() != length) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if (word.charAt(i) != joined[begin + i]) {
                return false;
            }
        }
        return true;
    }

    private static char lower(char c) {
        return c >= 'A' && c <= 'Z' ? (char) (c + ('a' - 'A')) : c;
    }

    private static boolean isWord(char c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9';
    }

    /** As in {@code apiKey}. */
    private static boolean begins(String name, int at) {
        return Character.isUpperCase(name.charAt(at)) && !Character.isUpperCase(name.charAt(at - 1));
    }

    /** A word, and which letters a name must have to hold it: nearly all names lack one. */
    private record Word(String text, int letters) {
        Word(String text) {
            this(text, Secrets.letters(text));
        }
    }
}
