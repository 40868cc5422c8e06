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
    EMAIL(
            "(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]+@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\\.[A-Za-z0-9-]+)*\\.[A-Za-z]{2,}"),
    PHONE("(?<![\\w.+-])(?:\\+\\d{1,3}[ .-]?)?(?:\\(\\d{2,4}\\)[ .-]?|\\d{2,4}[ .-])\\d{3,4}[ .-]\\d{3,4}(?![\\w-])"
            + "|(?<![\\w.+-])\\+\\d(?:[ .-]?\\d){7,14}(?![\\w-])"),
    API_KEY(
            "(?i)(?<![A-Za-z0-9])(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9]{16,}[A-Za-z0-9_-]*"
                    + "|(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}"
                    + "|xox[abeprs]-[A-Za-z0-9-]{10,}|hf_[A-Za-z0-9]{20,}|nvapi-[A-Za-z0-9_-]{20,}|AIza[A-Za-z0-9_-]{30,})"
                    + "|(?<![A-Za-z0-9])(?:[A-Za-z0-9]+[_-])*api[_-]?key[\"']?\\s*[:=]\\s*[\"']?(?<secret>[A-Za-z0-9._~+/=-]{8,})"),
    IP_ADDRESS("(?<![\\w.])(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)\\.){3}(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)(?![\\w]|\\.\\d)"),
    IPV6("(?<![\\w:.])[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:.]*[0-9A-Fa-f:](?:%[A-Za-z0-9]+)?") {
        @Override
        List<Span> find(String text) {
            List<Span> found = new ArrayList<>();
            for (Span span : super.find(text)) {
                // The last characters may belong to the sentence.
                for (int end = span.end(); end > span.begin() + 1; end--) {
                    if (address(text.substring(span.begin(), end))) {
                        found.add(new Span(span.begin(), end));
                        break;
                    }
                }
            }
            return found;
        }
    },
    URL("(?i)(?<![A-Za-z0-9+.-])[a-z][a-z0-9+.-]*://[^\\s<>\"'`]+") {
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
    UUID("(?i)(?<![0-9a-f-])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f-])"),
    BEARER_TOKEN("(?i)(?<![A-Za-z0-9])bearer\\s+[A-Za-z0-9._~+/-]+=*"),
    JWT("(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+(?:\\.[A-Za-z0-9_-]*)*"),
    CREDIT_CARD("(?<![\\w.])\\d(?:[ -]?\\d){12,}(?!\\w)") {
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
            "(?<![A-Za-z0-9])(?:AKIA|ASIA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    AWS_SECRET_ACCESS_KEY(
            "(?i)aws[_-]?secret[_-]?(?:access[_-]?)?key[\"']?\\s*[:=]\\s*[\"']?(?<secret>[A-Za-z0-9/+=]{40})(?![A-Za-z0-9/+])"),
    GCP_API_KEY("(?<![A-Za-z0-9_-])AIza[A-Za-z0-9_-]{30,}"),
    AZURE_STORAGE_ACCOUNT_KEY("(?i)AccountKey[\"']?\\s*[:=]\\s*[\"']?(?<secret>[A-Za-z0-9+/]{40,}={0,2})");

    private static final int CARD_MIN = 13;
    private static final int CARD_MAX = 19;

    private final Pattern pattern;
    private final boolean named;

    Detector(String pattern) {
        this.pattern = Pattern.compile(pattern);
        this.named = pattern.contains("(?<secret>");
    }

    /** The word in configuration. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** What of a text it means, in order. */
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
        int begin = row.begin();
        while (begin < row.end()) {
            int end = Character.isDigit(text.charAt(begin)) ? card(text, begin, row.end()) : -1;
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
        char first = digits.charAt(0);
        if (first < '2' || first > '6') {
            return false;
        }
        int sum = 0;
        for (int i = 0; i < digits.length(); i++) {
            int digit = digits.charAt(digits.length() - 1 - i) - '0';
            int value = i % 2 == 0 ? digit : digit * 2;
            sum += value > 9 ? value - 9 : value;
        }
        return sum % 10 == 0;
    }
}
