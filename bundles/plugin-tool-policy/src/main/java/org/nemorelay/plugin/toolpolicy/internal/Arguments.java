package org.nemorelay.plugin.toolpolicy.internal;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Commands and paths of a call's arguments, at any depth: by their keys, whatever their case and punctuation. Owned by one
 * thread.
 */
final class Arguments {
    private static final Set<String> COMMANDS = Set.of("command", "cmd", "script", "commands", "chars");
    private static final Set<String> INTERPRETERS = Set.of("sh", "bash", "zsh", "dash", "ksh", "ash", "fish");

    /** What tools that edit files call {@code command}. */
    private static final Set<String> EDITS =
            Set.of("view", "create", "str_replace", "insert", "undo_edit", "delete", "rename");

    private static final Pattern FOLDER = Pattern.compile(
            ".*(?:cwd|pwd|dirs?|directory|directories|folders?|root)|workspace|relativeto|base|parent|repo"
                    + "|repository|project|.*(?:repo|root|base|project)path");

    /** Words that may mean anything else as well. */
    private static final Pattern PERHAPS_FOLDER =
            Pattern.compile("container|prefix|in|at|from|to|under|within|inside|mount");

    private static final Pattern LIKE_FOLDER = Pattern.compile("[/\\\\~$%]|\\.\\.");

    private static final Pattern PATH = Pattern.compile(
            ".*(?:paths?|(?<!pro)files?|filenames?|uris?)|src|dst|dest|sources?|destinations?|targets?|outputs?|locations?");

    private static final Set<String> GLOBS = Set.of("glob", "globs");
    /** Tools that look through a folder, that of the agent when none is named. */
    private static final Set<String> SEARCHES = Set.of("glob", "find", "grep", "ls", "searchfiles");

    /** Those of them whose {@code pattern} is one of names. */
    private static final Set<String> FINDERS = Set.of("glob", "find", "searchfiles");

    private static final Set<String> PATCHERS = Set.of("applypatch");

    private final boolean shell;
    private final boolean finder;
    private final boolean patcher;

    private final List<String> commands = new ArrayList<>();
    private final List<String> paths = new ArrayList<>();
    private final List<String> folders = new ArrayList<>();
    private final List<String> globs = new ArrayList<>();
    private boolean runs;

    /** @param shell whether the tool of these names is known to run commands */
    Arguments(Collection<String> names, boolean shell, Object input) {
        this.shell = shell;
        finder = isOne(names, FINDERS);
        patcher = isOne(names, PATCHERS);
        runs = shell;
        if (input instanceof String text) {
            command(text);
        }
        walk("", input);
        if (paths.isEmpty() && folders.isEmpty() && isOne(names, SEARCHES)) {
            folders.add(".");
            paths.add(".");
        }
    }

    private static boolean isOne(Collection<String> names, Set<String> tools) {
        return names.stream().anyMatch(name -> tools.contains(word(name.substring(name.lastIndexOf("__") + 1))));
    }

    /** As the shell gets them. */
    List<String> commands() {
        return commands;
    }

    /** As they are written. */
    List<String> paths() {
        return paths;
    }

    /** Those from which relative paths may lead, as they are written. */
    List<String> folders() {
        return folders;
    }

    /** Patterns of paths, as they are written. */
    List<String> globs() {
        return globs;
    }

    /** Whether it may reach files that {@link #paths} and {@link #globs} do not name. */
    boolean runs() {
        return runs;
    }

    private void walk(String key, Object value) {
        switch (value) {
            case Map<?, ?> map -> {
                map.forEach((name, member) -> {
                    String text = String.valueOf(name);
                    if (PATH.matcher(key).matches() && text.matches("(?s).*[/\\\\.~].*")) {
                        paths.add(text);
                    }
                    walk(word(text), member);
                });
                withArguments(map);
            }
            case List<?> words
            when key.equals("command") || key.equals("cmd") -> {
                commands.add(words(words));
                runs = true;
                words.forEach(word -> walk("", word));
            }
            case List<?> list -> list.forEach(item -> walk(key, item));
            case String text -> text(key, text);
            case null, default -> {}
        }
    }

    /** A program and, beside it, its arguments. */
    private void withArguments(Map<?, ?> map) {
        Map<String, Object> members = new HashMap<>();
        map.forEach((name, member) -> members.put(word(String.valueOf(name)), member));
        for (String program : List.of("command", "cmd")) {
            for (String arguments : List.of("args", "arguments", "argv")) {
                if (members.get(program) instanceof String name
                        && members.get(arguments) instanceof List<?> list
                        && !list.isEmpty()) {
                    commands.add(name + " " + quoted(list));
                    runs = true;
                }
            }
        }
    }

    private void command(String text) {
        commands.add(text);
        runs |= !EDITS.contains(text) && !(patcher && Patch.alone(text));
    }

    private void text(String key, String text) {
        if (COMMANDS.contains(key) || key.endsWith("command") || key.endsWith("commandline")) {
            command(text);
        }
        if (FOLDER.matcher(key).matches()
                || PERHAPS_FOLDER.matcher(key).matches()
                        && LIKE_FOLDER.matcher(text).find()) {
            folders.add(text);
            paths.add(text);
        } else if (PATH.matcher(key).matches() || Places.isFileUrl(text)) {
            paths.add(text);
        } else if (GLOBS.contains(key) || finder && key.equals("pattern")) {
            globs.add(text);
        }
        // A shell may make lines of what stands for their ends.
        String patch = shell ? text + "\n" + text.replace("\\n", "\n") : text;
        Set<String> files = Patch.files(patch);
        if (!files.isEmpty()) {
            paths.addAll(files);
            folders.addAll(Patch.folders(text));
            runs |= Patch.elsewhere(text);
        }
    }

    private static String word(String key) {
        return key.replaceAll("[^A-Za-z]", "").toLowerCase(Locale.ROOT);
    }

    /** A command that no shell takes apart, or what it gives to one that does. */
    private static String words(List<?> list) {
        List<String> words = list.stream().map(String::valueOf).toList();
        if (words.size() == 3
                && INTERPRETERS.contains(
                        words.getFirst().substring(words.getFirst().lastIndexOf('/') + 1))
                && words.get(1).matches("-[a-z]*c")) {
            return words.get(2);
        }
        return quoted(words);
    }

    private static String quoted(List<?> words) {
        return String.join(
                " ", words.stream().map(String::valueOf).map(Shell::quoted).toList());
    }
}
