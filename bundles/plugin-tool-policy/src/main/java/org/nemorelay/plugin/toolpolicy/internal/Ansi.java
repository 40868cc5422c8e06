package org.nemorelay.plugin.toolpolicy.internal;

/** What {@code $'...'} stands for in a shell. Stateless. */
final class Ansi {
    private Ansi() {}

    /** Appends what is meant, and returns where the text goes on behind the closing quote. */
    static int read(String text, int begin, StringBuilder meant) {
        int at = begin;
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == '\'') {
                return at;
            }
            if (c != '\\' || at == text.length()) {
                meant.append(c);
                continue;
            }
            char kind = text.charAt(at++);
            int digits = switch (kind) {
                case 'x' -> 2;
                case 'u' -> 4;
                case 'U' -> 8;
                default -> 0;
            };
            if (digits > 0) {
                at = number(text, at, digits, 16, meant);
            } else if (kind >= '0' && kind <= '7') {
                at = number(text, at - 1, 3, 8, meant);
            } else {
                meant.append(
                        switch (kind) {
                            case 'n' -> '\n';
                            case 't' -> '\t';
                            case 'r' -> '\r';
                            case 'v', 'f' -> ' ';
                            default -> kind;
                        });
            }
        }
        return at;
    }

    private static int number(String text, int begin, int digits, int radix, StringBuilder meant) {
        int at = begin;
        int number = 0;
        while (at < text.length() && at - begin < digits && Character.digit(text.charAt(at), radix) >= 0) {
            number = number * radix + Character.digit(text.charAt(at++), radix);
        }
        if (Character.isValidCodePoint(number)) {
            meant.appendCodePoint(number);
        }
        return at;
    }
}
