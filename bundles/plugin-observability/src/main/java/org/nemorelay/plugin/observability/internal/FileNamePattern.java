package org.nemorelay.plugin.observability.internal;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;

/** The {@code %} patterns of a sink's file name, in UTC. */
final class FileNamePattern {
    private FileNamePattern() {}

    /** The name for one moment; {@link IllegalArgumentException} for a letter that stands for nothing. */
    static String expand(String pattern, Instant now) {
        if (pattern.isBlank()) {
            throw new IllegalArgumentException("must not be empty");
        }
        LocalDateTime time = LocalDateTime.ofInstant(now, ZoneOffset.UTC);
        StringBuilder name = new StringBuilder();
        for (int i = 0; i < pattern.length(); i++) {
            char c = pattern.charAt(i);
            if (c != '%') {
                name.append(c);
                continue;
            }
            char letter = ++i < pattern.length() ? pattern.charAt(i) : ' ';
            switch (letter) {
                case 'Y' -> digits(name, time.getYear(), 4);
                case 'm' -> digits(name, time.getMonthValue(), 2);
                case 'd' -> digits(name, time.getDayOfMonth(), 2);
                case 'H' -> digits(name, time.getHour(), 2);
                case 'M' -> digits(name, time.getMinute(), 2);
                case 'S' -> digits(name, time.getSecond(), 2);
                case '%' -> name.append('%');
                default ->
                    throw new IllegalArgumentException(
                            "%" + letter + " is not supported, use %Y %m %d %H %M %S, or %% for a percent sign");
            }
        }
        return name.toString();
    }

    private static void digits(StringBuilder out, int number, int width) {
        String digits = Integer.toString(number);
        out.append("0".repeat(Math.max(0, width - digits.length()))).append(digits);
    }
}
