package org.nemorelay.plugin.toolpolicy.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What a shell would run of a text, as far as that can be told without being one, for rules that allow. Immutable.
 *
 * @param commands the simple commands, as they are written
 * @param certain whether that is all: no substitution, no redirection into a file, nothing left open
 */
record Shell(List<String> commands, boolean certain) {
    private static final Pattern PLAIN_WORD = Pattern.compile("[\\w@%+=:,./-]+");
    /** What precedes a command, or takes its place. */
    private static final Pattern ASSIGNMENT = Pattern.compile("\\w+(?:\\[[^\\]]*])?\\+?=");
    /** To nowhere, or from one stream into another. */
    private static final Pattern HARMLESS_REDIRECTION =
            Pattern.compile("(?:[012&]?>>?\\s*/dev/null|[012]?>&[012])(?=\\s|$|[;&|])");

    static Shell of(String text) {
        String left = HARMLESS_REDIRECTION.matcher(text).replaceAll(" ");
        List<String> commands = new ArrayList<>();
        StringBuilder command = new StringBuilder();
        boolean certain = true;
        char quote = 0;
        for (int i = 0; i < left.length(); i++) {
            char c = left.charAt(i);
            if (quote == '\'') {
                command.append(c);
                quote = c == '\'' ? 0 : quote;
                continue;
            }
            certain &= c != '`'
                    && (c != '$'
                            || isVariable(left, i + 1) && !command.toString().isBlank());
            if (c == '\\') {
                command.append(c);
                if (++i < left.length()) {
                    command.append(left.charAt(i));
                }
            } else if (quote == '"') {
                command.append(c);
                quote = c == '"' ? 0 : quote;
            } else if (c == ';' || c == '&' || c == '|' || c == '\n') {
                end(command, commands);
            } else {
                certain &= c != '(' && c != ')' && c != '{' && c != '}' && c != '<' && c != '>' && c != '#';
                command.append(c);
                quote = c == '"' || c == '\'' ? c : 0;
            }
        }
        end(command, commands);
        certain &= quote == 0 && !commands.isEmpty();
        // Its first word names a variable, and looks like a program's to an expression that ends there.
        certain &= commands.stream().noneMatch(one -> ASSIGNMENT.matcher(one).lookingAt());
        return new Shell(List.copyOf(commands), certain);
    }

    /** What stands for a variable can become no command, unless it stands where one begins. */
    private static boolean isVariable(String text, int at) {
        return at < text.length() && (Character.isLetter(text.charAt(at)) || text.charAt(at) == '_');
    }

    private static void end(StringBuilder command, List<String> commands) {
        String text = command.toString().strip();
        if (!text.isEmpty()) {
            commands.add(text);
        }
        command.setLength(0);
    }

    /** A word that a shell takes for one. */
    static String quoted(String word) {
        return PLAIN_WORD.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
