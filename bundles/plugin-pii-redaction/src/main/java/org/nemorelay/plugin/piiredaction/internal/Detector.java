package org.nemorelay.plugin.piiredaction.internal;

import java.net.Inet6Address;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What is built in. Each finds the whole of a secret: half of one that stays is a leak. Where a name stands before a value, as
 * in {@code api_key=...}, the value alone is found.
 */
enum Detector {
    /** Letters of all scripts, and what JSON makes of them; {@code o'neil} and {@code "jane doe"} as names. */
    EMAIL("(?:(?<![\\p{L}\\p{M}\\p{N}._%+-])(?<![\\p{L}\\p{M}\\p{N}]')(?<!\\\\(?=u[0-9A-Fa-f]{4}))"
            + "(?:[\\p{L}\\p{M}\\p{N}._%+-]|\\\\{1,8}u[0-9A-Fa-f]{4}|(?<=[\\p{L}\\p{M}\\p{N}])'(?=[\\p{L}\\p{N}]))++"
            + "|\"[^\"\\\\\\r\\n]{1,64}+\")"
            + "[@\\uFF20](?:(?=[\\p{L}\\p{N}\\\\])(?:[\\p{L}\\p{M}\\p{N}.-]|\\\\{1,8}u[0-9A-Fa-f]{4}){1,253}\\.\\p{L}[\\p{L}\\p{M}]++"
            + "|\\[[0-9A-Fa-f.:]{3,45}+\\])"),
    PHONE(
            "(?:\\+\\d{1,3}[ .-]?)?(?:\\(\\d{2,4}\\)[ .-]?|\\d{2,4}[ .-])\\d{3,4}[ .-]\\d{3,4}(?![\\w-])"
                    + "|\\+\\d(?:[ .-]?\\d){7,14}(?![\\w-])",
            "\\w.+-"),
    API_KEY(
            "(?:sk|pk|rk)[-_](?=[A-Za-z0-9_-]{0,128}?[A-Za-z0-9]{16})[A-Za-z0-9_-]++"
                    + "|gh[pousr]_[A-Za-z0-9]{20,}+|github_pat_[A-Za-z0-9_]{20,}+|glpat-[A-Za-z0-9_-]{16,}+"
                    + "|xox[abeprs]-[A-Za-z0-9-]{10,}+|hf_[A-Za-z0-9]{20,}+|nvapi-[A-Za-z0-9_-]{20,}+"
                    + "|AIza[A-Za-z0-9_-]{30,}+",
            "A-Za-z0-9",
            "api[_-]?key",
            "(?=[A-Za-z0-9._~+/=-]{8})[^\\s\"'`,;&<>(){}\\[\\]\\\\]++"),
    IP_ADDRESS("(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)\\.){3}(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)(?![\\w]|\\.\\d)", "\\w."),
    IPV6("[0-9A-Fa-f:.]{2,}+(?:%[A-Za-z0-9]++)?", "\\w:.") {
        @Override
        List<Span> find(String text) {
            List<Span> found = new ArrayList<>();
            for (Span span : super.find(text)) {
                // The last characters may belong to the sentence.
                for (int end = Math.min(span.end(), span.begin() + IPV6_MAX); end > span.begin() + 1; end--) {
                    if (address(text.substring(span.begin(), end))) {
                        found.add(new Span(span.begin(), end));
                        break;
                    }
                }
            }
            return found;
        }
    },
    URL("[a-z][a-z0-9+.-]*+://[^\\s<>\"'`\\\\]++", "A-Za-z0-9+.-") {
        @Override
        List<Span> find(String text) {
            return super.find(text).stream()
                    .map(span -> {
                        int end = span.end();
                        while (".,;:!?)]}".indexOf(text.charAt(end - 1)) >= 0) {
                            end--;
                        }
                        return new Span(span.begin(), end);
                    })
                    .toList();
        }
    },
    UUID("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f-])", "0-9A-Fa-f-"),
    BEARER_TOKEN("bearer\\s++[A-Za-z0-9._~+/-]++=*+", "A-Za-z0-9"),
    JWT("(?-i:eyJ)[A-Za-z0-9_-]++\\.[A-Za-z0-9_-]++(?:\\.[A-Za-z0-9_-]*+){0,3}+", "A-Za-z0-9_-"),
    CREDIT_CARD("\\d(?:[ -]?\\d){12,}+", "\\w.") {
        @Override
        List<Span> find(String text) {
            List<Span> found = new ArrayList<>();
            for (Span span : super.find(text)) {
                cards(text, span, found);
            }
            return found;
        }
    },
    AWS_ACCESS_KEY_ID(
            "(?-i:(?:AKIA|ASIA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9]))", "A-Za-z0-9"),
    AWS_SECRET_ACCESS_KEY(
            "",
            "",
            "(?:aws[_-]?)?secret[_-]?access[_-]?key|aws[_-]?secret[_-]?key",
            "[A-Za-z0-9/+=]{40}(?![A-Za-z0-9/+])"),
    GCP_API_KEY("(?-i:AIza)[A-Za-z0-9_-]{30,}+", "A-Za-z0-9_-"),
    AZURE_STORAGE_ACCOUNT_KEY("", "", "AccountKey", "[A-Za-z0-9+/]{40,}+={0,2}");

    /** {@code ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255} and a zone. */
    private static final int IPV6_MAX = 64;

    private static final int CARD_MIN = 13;
    private static final int CARD_MAX = 19;

    private final Pattern pattern;
    private final boolean named;

    Detector(String pattern) {
        this.pattern = Pattern.compile(pattern);
        this.named = false;
    }

    /** @param notAfter the characters that a find does not follow */
    Detector(String pattern, String notAfter) {
        this.pattern = Pattern.compile("(?i)" + begin(notAfter) + "(?:" + pattern + ")");
        this.named = false;
    }

    /**
     * @param name what stands before a secret
     * @param secret what stands behind it
     */
    Detector(String pattern, String notAfter, String name, String secret) {
        String quote = "(?:\\\\{0,8}[\"'])?";
        String behind = "(?:" + name + ")" + quote + "\\s*+[:=]\\s*+" + quote + "(?<secret>" + secret + ")";
        this.pattern =
                Pattern.compile("(?i)" + (pattern.isEmpty() ? "" : begin(notAfter) + "(?:" + pattern + ")|") + behind);
        this.named = true;
    }

    /** In JSON within a text the letter of a line end or tab stands before the next word. */
    private static String begin(String notAfter) {
        return "(?:(?<![" + notAfter + "])|(?<=\\\\[bfnrt])|(?<=\\\\u[0-9a-f]{4}))";
    }

    /** The word in configuration. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** What of a text it means, in order. Takes time in proportion to the text, whatever that is. */
    List<Span> find(String text) {
        List<Span> found = new ArrayList<>();
        Matcher matcher = pattern.matcher(text);
        while (matcher.find()) {
            boolean value = named && matcher.start("secret") >= 0;
            found.add(
                    value
                            ? new Span(matcher.start("secret"), matcher.end("secret"))
                            : new Span(matcher.start(), matcher.end()));
        }
        return found;
    }

    /** What of the value of a key it means: the key may be the name before a secret. */
    List<Span> find(String key, String value) {
        if (!named || key.isEmpty()) {
            return find(value);
        }
        int before = key.length() + 1;
        return find(key + "=" + value).stream()
                .filter(span -> span.begin() >= before)
                .map(span -> new Span(span.begin() - before, span.end() - before))
                .toList();
    }

    private static boolean address(String text) {
        if (text.chars().filter(c -> c == ':').count() < 2 || text.length() < 3) {
            return false;
        }
        try {
            int zone = text.indexOf('%');
            Inet6Address.ofLiteral(zone < 0 ? text : text.substring(0, zone));
            return true;
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** The card numbers in a row of digits: 13 to 19 of them whose check digit is right. */
    private static void cards(String text, Span row, List<Span> found) {
        int limit = row.end();
        if (limit < text.length() && (Character.isLetterOrDigit(text.charAt(limit)) || text.charAt(limit) == '_')) {
            // The last digits begin a word.
            while (limit > row.begin() && Character.isDigit(text.charAt(limit - 1))) {
                limit--;
            }
        }
        int begin = row.begin();
        while (begin < limit) {
            int end = Character.isDigit(text.charAt(begin)) ? card(text, begin, limit) : -1;
            if (end > 0) {
                found.add(new Span(begin, end));
                begin = end;
            } else {
                begin++;
            }
        }
    }

    /** Where the longest card number that begins here ends; negative when none does. */
    private static int card(String text, int begin, int limit) {
        if (text.charAt(begin) < '2' || text.charAt(begin) > '6') {
            return -1;
        }
        StringBuilder digits = new StringBuilder();
        int longest = -1;
        for (int at = begin; at < limit && digits.length() < CARD_MAX; at++) {
            if (Character.isDigit(text.charAt(at))) {
                digits.append(text.charAt(at));
                if (digits.length() >= CARD_MIN && valid(digits)) {
                    longest = at + 1;
                }
            }
        }
        return longest;
    }

    private static boolean valid(CharSequence digits) {
        int sum = 0;
        for (int i = 0; i < digits.length(); i++) {
            int digit = digits.charAt(digits.length() - 1 - i) - '0';
            int value = i % 2 == 0 ? digit : digit * 2;
            sum += value > 9 ? value - 9 : value;
        }
        return sum % 10 == 0;
    }
}
