package org.nemorelay.worker.internal.observe;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The skills that a tool call loads (plugins.md 1.6, {@code skill.load}): by a tool for it, or by reading their files. Stateless. */
final class SkillLoads {
    private static final Set<String> READERS = Set.of("read", "read_file", "readfile", "view", "view_file");
    private static final Set<String> SHELLS = Set.of("bash", "shell", "exec_command", "local_shell");
    private static final Pattern FILE = Pattern.compile("([^\\s\"'`|;&<>()=/\\\\]+)[/\\\\]SKILL\\.md(?![\\w.])");
    private static final Pattern READING =
            Pattern.compile("(?:^|[\\s|;&(\"'/])(?:cat|head|tail|sed|less|more|bat|nl|awk|type|Get-Content)\\s");

    private SkillLoads() {}

    /**
     * Names of skills, each once.
     *
     * @param source how they are loaded
     */
    record Loads(String source, Set<String> skills) {}

    static Loads of(String tool, Object input) {
        Map<String, Object> arguments = StreamedAnswer.objectOf(input);
        String word = tool.toLowerCase(Locale.ROOT);
        if (word.equals("skill")) {
            return new Loads(
                    "skill_tool",
                    first(arguments, "skill", "name", "command")
                            .map(SkillLoads::plain)
                            .map(Set::of)
                            .orElse(Set.of()));
        }
        if (READERS.contains(word)) {
            return new Loads(
                    "structured_read",
                    files(first(arguments, "file_path", "path", "filePath").orElse("")));
        }
        String command = SHELLS.contains(word) ? command(arguments) : "";
        return new Loads("shell_read", READING.matcher(command).find() ? files(command) : Set.of());
    }

    /** The name without what marks it as a command. */
    static String plain(String skill) {
        return skill.startsWith("/") ? skill.substring(1) : skill;
    }

    private static Set<String> files(String text) {
        Set<String> skills = new LinkedHashSet<>();
        Matcher matcher = FILE.matcher(text);
        while (matcher.find()) {
            skills.add(matcher.group(1));
        }
        return skills;
    }

    private static String command(Map<String, Object> arguments) {
        return arguments.get("command") instanceof List<?> words
                ? String.join(" ", words.stream().map(String::valueOf).toList())
                : first(arguments, "command", "cmd").orElse("");
    }

    private static Optional<String> first(Map<String, Object> arguments, String... keys) {
        return Stream.of(keys)
                .map(arguments::get)
                .filter(value -> value instanceof String text && !text.isBlank())
                .map(String.class::cast)
                .findFirst();
    }
}
