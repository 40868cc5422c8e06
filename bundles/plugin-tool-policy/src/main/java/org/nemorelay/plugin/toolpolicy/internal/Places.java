package org.nemorelay.plugin.toolpolicy.internal;

import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where the paths of a call may lead: tools differ on blanks, quotes, {@code ~}, {@code %41}, and on the folder from which a
 * relative path leads. Without {@code ..}, by which a path could step around a pattern. Owned by one thread.
 */
final class Places {
    /** More is no call of an agent, and would only cost time. */
    private static final int MOST = 10_000;

    private static final int MOST_FOLDERS = 50;
    private static final int MOST_READINGS = 30;

    /** No system opens a longer one, so what stands behind does not count. */
    private static final int LONGEST = 4096;

    /** As readers of URLs take it, who drop what cannot be seen and do not look at the case. */
    private static final Pattern FILE_URL = Pattern.compile("^(?:url:)*file:", Pattern.CASE_INSENSITIVE);

    private static final Pattern UNSEEN_IN_URL = Pattern.compile("^[\\x00-\\x20]+|[\\t\\r\\n]");
    private static final Pattern OTHER_URL =
            Pattern.compile("^(?!https?:)[a-z][a-z0-9+.-]*://[^/]*(/.*)$", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    private static final Pattern AROUND = Pattern.compile("[\\p{IsWhite_Space}\\p{Cc}\\p{Cf}\"'`]");
    private static final String OPENING = "<([{";
    private static final String CLOSING = ">)]}";
    private static final Pattern ENCODED = Pattern.compile("(?:%[0-9A-Fa-f]{2})+");
    private static final Pattern OWN_HOME = Pattern.compile("^(?:~|\\$HOME|\\$\\{HOME})(?=/|$)");
    private static final Pattern OTHER_HOME = Pattern.compile("^~([A-Za-z_][\\w.-]*)(?=/|$)");
    private static final Pattern HERE = Pattern.compile("^\\$(?:PWD|\\{PWD})(?=/|$)");

    private final Set<String> found = new LinkedHashSet<>();
    private boolean sure = true;

    /** @param cwd the folder in which the agent works */
    Places(Arguments arguments, Optional<String> cwd) {
        Set<String> bases = new LinkedHashSet<>();
        bases.add(cwd.orElse(""));
        for (String folder : arguments.folders()) {
            if (bases.size() < MOST_FOLDERS) {
                bases.addAll(resolved(folder, bases));
            } else {
                sure = false;
            }
        }
        for (String path : arguments.paths()) {
            found.addAll(resolved(path, bases));
        }
        if (!arguments.globs().isEmpty()) {
            bases.addAll(found);
        }
        for (String glob : arguments.globs()) {
            found.addAll(resolved(glob, bases));
        }
    }

    /** Absolute where the folder is known from which they lead. */
    List<String> paths() {
        return List.copyOf(found);
    }

    /** Whether that is where they lead. */
    boolean sure() {
        return sure;
    }

    static boolean isFileUrl(String text) {
        return fileUrl(bare(text)).isPresent();
    }

    private Set<String> resolved(String text, Set<String> bases) {
        Set<String> resolved = new LinkedHashSet<>();
        for (String reading : readings(text)) {
            for (String base : reading.startsWith("/") ? Set.of("") : bases) {
                if (found.size() + resolved.size() >= MOST) {
                    sure = false;
                    return resolved;
                }
                Optional<String> place = place(base, reading);
                sure &= place.filter(path -> !path.equals("..") && !path.startsWith("../"))
                        .isPresent();
                resolved.add(place.orElse(reading));
            }
        }
        return resolved;
    }

    private static Optional<String> place(String base, String path) {
        try {
            String place = Path.of(base).resolve(path).normalize().toString();
            return Optional.of(place.substring(0, Math.min(LONGEST, place.length())));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** The spellings that tools make of one. */
    private Set<String> readings(String text) {
        Set<String> readings = new LinkedHashSet<>();
        Deque<String> open = new ArrayDeque<>(List.of(text));
        while (!open.isEmpty()) {
            if (readings.size() >= MOST_READINGS) {
                sure = false;
                break;
            }
            String reading = open.pop();
            if (readings.add(reading)) {
                open.addAll(others(reading));
            }
        }
        // A tool that knows no URLs and no homes takes these for a folder's name, which ".." steps out of.
        readings.removeIf(reading -> !reading.contains("..")
                && (fileUrl(reading).isPresent() || OWN_HOME.matcher(reading).find()));
        return readings;
    }

    private List<String> others(String text) {
        Optional<String> url = fileUrl(text);
        if (url.isPresent()) {
            Optional<String> path = ofUrl(url.get());
            sure &= path.isPresent();
            return path.map(List::of).orElse(List.of());
        }
        List<String> others = new ArrayList<>();
        others.add(bare(text));
        others.add(text.replace('\\', '/'));
        others.add(text.startsWith("@") ? text.substring(1) : text);
        others.add(ENCODED.matcher(text).replaceAll(run -> Matcher.quoteReplacement(decoded(run.group()))));
        String home = System.getProperty("user.home");
        others.add(OWN_HOME.matcher(text).replaceFirst(Matcher.quoteReplacement(home)));
        others.add(HERE.matcher(text).replaceFirst("."));
        Matcher other = OTHER_HOME.matcher(text);
        if (other.find()) {
            String name = other.group(1);
            Path place = name.equals("root") ? Path.of("/root") : Path.of(home).resolveSibling(name);
            others.add(place + text.substring(other.end()));
        }
        Matcher scheme = OTHER_URL.matcher(text);
        if (scheme.matches()) {
            others.add(scheme.group(1));
        }
        return others;
    }

    /** Without blanks, what cannot be seen, quotes and pairs of brackets around it. */
    private static String bare(String text) {
        int from = 0;
        int to = text.length();
        for (boolean more = true; more; ) {
            while (from < to && isAround(text, from)) {
                from++;
            }
            while (to > from && isAround(text, to - 1)) {
                to--;
            }
            int opening = to - from < 2 ? -1 : OPENING.indexOf(text.charAt(from));
            more = opening >= 0 && text.charAt(to - 1) == CLOSING.charAt(opening);
            if (more) {
                from++;
                to--;
            }
        }
        return text.substring(from, to);
    }

    private static boolean isAround(String text, int at) {
        return AROUND.matcher(text).region(at, at + 1).matches();
    }

    private static String decoded(String run) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 1; i < run.length(); i += 3) {
            bytes.write(Integer.parseInt(run.substring(i, i + 2), 16));
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    /** The file's URL in its plain spelling; empty for what is none. */
    private static Optional<String> fileUrl(String text) {
        String seen = UNSEEN_IN_URL.matcher(text).replaceAll("");
        Matcher scheme = FILE_URL.matcher(seen);
        return scheme.find()
                ? Optional.of("file:" + seen.substring(scheme.end()).replace('\\', '/'))
                : Optional.empty();
    }

    private static Optional<String> ofUrl(String url) {
        try {
            return Optional.of(Path.of(URI.create(url)).normalize().toString());
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
