package org.nemorelay.plugin.toolpolicy.internal;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The simple commands of a text as a shell reads them: words without quotes, without redirections and comments.
 *
 * @param commands the words of each
 * @param texts here-documents, here-strings, and what is run for its output, as the rest of its line
 */
record Words(List<List<String>> commands, List<String> texts) {
    private static final Pattern ESCAPED = Pattern.compile("\\\\([$`\\\\])");

    static Words of(String text) {
        return new Reader(text).read();
    }

    /** What a word is for. */
    private enum Role {
        WORD,
        TARGET,
        TEXT,
        END_OF_TEXT
    }

    private static final class Reader {
        private final String text;
        private final List<List<String>> commands = new ArrayList<>();
        private final List<String> texts = new ArrayList<>();
        private final Deque<String> ends = new ArrayDeque<>();
        private final StringBuilder word = new StringBuilder();
        private List<String> words = new ArrayList<>();
        private boolean inWord;
        private Role role = Role.WORD;
        private int at;

        Reader(String text) {
            this.text = text;
        }

        Words read() {
            while (at < text.length()) {
                char c = text.charAt(at++);
                switch (c) {
                    case '\\' -> escaped();
                    case '\'' -> upTo('\'');
                    case '"' -> doubleQuoted();
                    case '$' -> dollar();
                    case ' ', '\t', '\r' -> endWord();
                    case '\n' -> {
                        endCommand();
                        hereDocuments();
                    }
                    case '`' -> {
                        backquoted();
                        endCommand();
                    }
                    case ';', '|', '(', ')' -> endCommand();
                    case '&' -> {
                        if (ahead() != '>') {
                            endCommand();
                        }
                    }
                    case '<', '>' -> redirection(c);
                    case '#' -> {
                        if (inWord) {
                            word.append(c);
                        } else {
                            int end = text.indexOf('\n', at);
                            at = end < 0 ? text.length() : end;
                        }
                    }
                    default -> {
                        inWord = true;
                        word.append(c);
                    }
                }
            }
            endCommand();
            return new Words(commands, texts);
        }

        private char ahead() {
            return at < text.length() ? text.charAt(at) : '\n';
        }

        private void escaped() {
            if (continued()) {
                return;
            }
            inWord = true;
            if (at < text.length()) {
                word.append(text.charAt(at++));
            }
        }

        /** Over the end of a line. */
        private boolean continued() {
            int end = ahead() == '\r' ? at + 1 : at;
            if (end < text.length() && text.charAt(end) == '\n') {
                at = end + 1;
                return true;
            }
            return false;
        }

        private void upTo(char quote) {
            int end = text.indexOf(quote, at);
            end = end < 0 ? text.length() : end;
            inWord = true;
            word.append(text, at, end);
            at = Math.min(end + 1, text.length());
        }

        private void doubleQuoted() {
            inWord = true;
            while (at < text.length()) {
                char c = text.charAt(at++);
                if (c == '"') {
                    return;
                }
                if (c == '`') {
                    backquoted();
                } else if (c == '(' && !word.isEmpty() && word.charAt(word.length() - 1) == '$') {
                    texts.add(restOfLine());
                } else if (c == '\\' && continued()) {
                    continue;
                }
                if (c == '\\' && "$`\"\\".indexOf(ahead()) >= 0) {
                    c = text.charAt(at++);
                }
                word.append(c);
            }
        }

        private void backquoted() {
            texts.add(ESCAPED.matcher(restOfLine()).replaceAll("$1"));
        }

        /** What is run for its output within quotes has quotes of its own, so it is read once more; other lines are anyway. */
        private String restOfLine() {
            int end = text.indexOf('\n', at);
            return text.substring(at, end < 0 ? text.length() : end);
        }

        private void dollar() {
            if (ahead() == '\'') {
                at++;
                inWord = true;
                at = Ansi.read(text, at, word);
            } else if (ahead() != '"') {
                inWord = true;
                word.append('$');
            }
        }

        private void redirection(char first) {
            boolean descriptor = inWord && word.chars().allMatch(c -> c >= '0' && c <= '9')
                    || word.length() > 1 && word.charAt(0) == '{' && word.charAt(word.length() - 1) == '}';
            if (descriptor) {
                word.setLength(0);
                inWord = false;
            }
            endWord();
            int begin = at - 1;
            while (at < text.length() && (text.charAt(at) == '<' || text.charAt(at) == '>')) {
                at++;
            }
            boolean here = first == '<' && at - begin > 1 && text.charAt(at - 1) == '<';
            role = !here ? Role.TARGET : at - begin > 2 ? Role.TEXT : Role.END_OF_TEXT;
            if (ahead() == '(') {
                role = Role.WORD;
            } else if (role == Role.TARGET && (ahead() == '&' || ahead() == '|')
                    || role == Role.END_OF_TEXT && ahead() == '-') {
                at++;
            }
        }

        private void endWord() {
            if (!inWord) {
                return;
            }
            switch (role) {
                case WORD -> words.add(word.toString());
                case TARGET -> {}
                case TEXT -> texts.add(word.toString());
                case END_OF_TEXT -> ends.add(word.toString());
            }
            role = Role.WORD;
            word.setLength(0);
            inWord = false;
            if (!words.isEmpty() && words.getLast().equals("{")) {
                endCommand();
            }
        }

        private void endCommand() {
            endWord();
            role = Role.WORD;
            if (!words.isEmpty()) {
                commands.add(words);
                words = new ArrayList<>();
            }
        }

        private void hereDocuments() {
            while (!ends.isEmpty()) {
                String end = ends.remove();
                StringBuilder body = new StringBuilder();
                boolean over = false;
                while (!over && at < text.length()) {
                    int newline = text.indexOf('\n', at);
                    String line = text.substring(at, newline < 0 ? text.length() : newline);
                    at = newline < 0 ? text.length() : newline + 1;
                    over = line.strip().equals(end);
                    body.append(over ? "" : line + "\n");
                }
                texts.add(body.toString());
            }
        }
    }
}
