package org.nemorelay.telemetry;

import java.security.SecureRandom;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.nemorelay.json.Json;
import org.nemorelay.telemetry.EventLog.Level;

/** One event as one line of text, in both formats of plugins 3. Keys in alphabetical order, as the stock binary writes them. */
final class LogLine {
    private static final char[] HEX = "0123456789abcdef".toCharArray();

    private final String root;

    /** @param root the id of this process in every line; the human form shows its first block */
    LogLine(String root) {
        this.root = root;
    }

    /** A time-ordered UUID (version 7), as the stock binary uses for its process ids. */
    static String newRootId() {
        SecureRandom random = new SecureRandom();
        long most = System.currentTimeMillis() << 16 | 0x7000L | random.nextInt(0x1000);
        long least = random.nextLong() & 0x3fff_ffff_ffff_ffffL | 0x8000_0000_0000_0000L;
        return new UUID(most, least).toString();
    }

    String format(
            LogSettings.Format format,
            Instant time,
            Level level,
            String target,
            String event,
            String message,
            Object[] fields) {
        Map<String, Object> sorted = new TreeMap<>();
        for (int i = 0; i + 1 < fields.length; i += 2) {
            sorted.put(text(fields[i]), fields[i + 1]);
        }
        return switch (format) {
            case HUMAN -> human(time, level, target, event, message, sorted);
            case JSONL -> json(time, level, target, event, message, sorted);
        };
    }

    private String human(
            Instant time, Level level, String target, String event, String message, Map<String, Object> fields) {
        StringBuilder line = new StringBuilder(192);
        timestamp(time, line);
        line.append(' ').append(level.name());
        line.append(" root=").append(root, 0, root.indexOf('-') < 0 ? root.length() : root.indexOf('-'));
        line.append(" target=");
        escape(target, line);
        if (!event.isEmpty()) {
            line.append(" event=");
            escape(event, line);
        }
        for (Map.Entry<String, Object> field : fields.entrySet()) {
            line.append(' ');
            escape(field.getKey(), line);
            line.append('=');
            escape(text(field.getValue()), line);
        }
        line.append(' ');
        escape(message, line);
        return line.append('\n').toString();
    }

    private String json(
            Instant time, Level level, String target, String event, String message, Map<String, Object> fields) {
        Map<String, Object> values = new TreeMap<>();
        for (Map.Entry<String, Object> field : fields.entrySet()) {
            values.put(field.getKey(), jsonValue(field.getValue()));
        }
        Map<String, Object> line = new TreeMap<>();
        line.put("event", event);
        line.put("fields", values);
        line.put("level", level.name().toLowerCase(java.util.Locale.ROOT));
        line.put("message", message);
        line.put("root_relay_id", root);
        line.put("target", target);
        line.put("timestamp", timestamp(time, new StringBuilder(24)).toString());
        return Json.write(line) + "\n";
    }

    /** Numbers and flags stay what they are: the stock binary writes them so, whatever plugins 3 says. */
    private static Object jsonValue(Object value) {
        return switch (value) {
            case Long number -> number;
            case Integer number -> number;
            case Boolean flag -> flag;
            case null, default -> text(value);
        };
    }

    private static String text(Object value) {
        try {
            return String.valueOf(value);
        } catch (RuntimeException e) {
            return "<" + e.getClass().getName() + ">";
        }
    }

    /** RFC 3339 in UTC with milliseconds; by hand, because a formatter costs a short-lived process more than the line. */
    private static StringBuilder timestamp(Instant time, StringBuilder out) {
        LocalDateTime utc = LocalDateTime.ofEpochSecond(time.getEpochSecond(), 0, ZoneOffset.UTC);
        digits(utc.getYear(), 4, out).append('-');
        digits(utc.getMonthValue(), 2, out).append('-');
        digits(utc.getDayOfMonth(), 2, out).append('T');
        digits(utc.getHour(), 2, out).append(':');
        digits(utc.getMinute(), 2, out).append(':');
        digits(utc.getSecond(), 2, out).append('.');
        return digits(time.getNano() / 1_000_000, 3, out).append('Z');
    }

    private static StringBuilder digits(int number, int width, StringBuilder out) {
        String text = Integer.toString(number);
        for (int i = text.length(); i < width; i++) {
            out.append('0');
        }
        return out.append(text);
    }

    /** Control characters could forge a second line or drive the reader's terminal. */
    private static void escape(String text, StringBuilder out) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    if (Character.isISOControl(c) || c == '\u2028' || c == '\u2029') {
                        out.append("\\u")
                                .append(HEX[c >> 12])
                                .append(HEX[c >> 8 & 15])
                                .append(HEX[c >> 4 & 15])
                                .append(HEX[c & 15]);
                    } else {
                        out.append(c);
                    }
                }
            }
        }
    }
}
