package org.nemorelay.plugin.toolpolicy.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.PluginConfigException;
import org.nemorelay.plugin.api.ToolCall.Agent;
import org.nemorelay.plugin.testkit.ToolCalls;

/** Where the paths of a call lead: to deny, one spelling or folder is enough; to allow, all must be named. */
class PathsTest {
    private static final String HOME = System.getProperty("user.home");

    private static Decision decide(String action, List<String> patterns, String tool, Map<String, Object> input) {
        Map<String, Object> config = new HashMap<>();
        config.put("default", action.equals("allow") ? "deny" : "allow");
        config.put("rules.0.action", action);
        config.put("rules.0.paths", patterns.toArray(String[]::new));
        // The folder in which it works is /srv/project.
        return new ToolPolicy(config)
                .decide(ToolCalls.of(Agent.CODEX, tool, input))
                .toCompletableFuture()
                .join();
    }

    private static void denied(List<String> patterns, String tool, Map<String, Object> input) {
        assertInstanceOf(
                Decision.Deny.class, decide("deny", patterns, tool, input), () -> "not denied: " + tool + input);
    }

    private static void notDenied(List<String> patterns, String tool, Map<String, Object> input) {
        assertEquals(Decision.allow(), decide("deny", patterns, tool, input), () -> "denied: " + tool + input);
    }

    private static void allowed(List<String> patterns, String tool, Map<String, Object> input) {
        assertEquals(Decision.allow(), decide("allow", patterns, tool, input), () -> "not allowed: " + tool + input);
    }

    private static void notAllowed(List<String> patterns, String tool, Map<String, Object> input) {
        assertInstanceOf(Decision.Deny.class, decide("allow", patterns, tool, input), () -> "allowed: " + tool + input);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "*** Add File: /etc/x\n+x",
                "  *** Add File: /etc/x\n+x",
                "\t*** Add File: /etc/x\n+x",
                "\u00a0*** Add File: /etc/x\u00a0\n+x",
                " *** Delete File: /etc/x",
                " *** Update File: /etc/x\n@@\n-a\n+b",
                "*** Update File: a\n  *** Move to: /etc/x\n@@\n-a\n+b",
                "*** Add File: a\n+x\n *** Delete File: /etc/x",
                "*** Update File: a\n@@\n x\n *** Delete File: /etc/x",
                "*** Add File:  /etc/x\n+x",
                "*** Add File:/etc/x\n+x",
                "*** add file: /etc/x\n+x",
                "***  Add  File : /etc/x\n+x",
                "*** Add File: ../../etc/x\n+x",
                "*** Add File: a\r*** Add File: /etc/x\r+x",
                "*** Add File: b\r/../../../../etc/x\n+x",
                "*** Add File: /etc/x\r\n+x",
                "*** Environment ID: other\n*** Add File: /etc/x\n+x",
            })
    void aPatchIsReadAsItsReadersDo(String body) {
        String patch = "*** Begin Patch\n" + body + "\n*** End Patch";
        List<String> etc = List.of("/etc/**");
        List<String> project = List.of("/srv/project/**");
        for (String text : List.of(patch, " " + patch + " \n", "<<'EOF'\n" + patch + "\nEOF\n")) {
            denied(etc, "apply_patch", Map.of("command", text));
            denied(etc, "apply_patch", Map.of("input", text));
            denied(etc, "shell", Map.of("command", List.of("apply_patch", text)));
            notAllowed(project, "apply_patch", Map.of("command", text));
            notAllowed(project, "apply_patch", Map.of("input", text));
            notAllowed(project, "mcp__x__y", Map.of("a", List.of(Map.of("b", text))));
        }
        String script = "apply_patch <<'EOF'\n" + patch + "\nEOF";
        denied(etc, "Bash", Map.of("command", script));
        denied(etc, "shell", Map.of("command", List.of("bash", "-lc", script)));
        denied(etc, "exec_command", Map.of("cmd", "apply_patch $'" + patch.replace("\n", "\\n") + "'"));
    }

    @Test
    void aPatchOfAllowedFilesIsAllowed() {
        List<String> project = List.of("/srv/project/**");
        String patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: /srv/project/b\n*** Move to: c/d\n@@\n"
                + "+*** Add File: /etc/x\n*** End Patch";
        allowed(project, "apply_patch", Map.of("command", patch));
        allowed(project, "apply_patch", Map.of("input", "<<'EOF'\n" + patch + "\nEOF\n"));
        notDenied(List.of("/etc/**"), "apply_patch", Map.of("command", patch));
        // Where the files of another environment are, no rule knows.
        String elsewhere = patch.replace("Begin Patch\n", "Begin Patch\n*** Environment ID: other\n");
        for (String key : List.of("command", "input", "patch")) {
            notAllowed(project, "apply_patch", Map.of(key, elsewhere));
        }
    }

    @Test
    void aPatchInAShellLeadsFromTheFoldersIntoWhichItGoes() {
        List<String> etc = List.of("/etc/ssl/*");
        String patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: ssl/x\n*** End Patch\nEOF";
        for (String move :
                List.of("cd /etc && ", "cd '/etc'; ", "(cd \"/etc\"; ", "cd / && cd etc && ", "pushd -- /etc\n")) {
            denied(etc, "Bash", Map.of("command", move + patch));
            denied(etc, "shell", Map.of("command", List.of("bash", "-lc", move + patch)));
        }
        denied(etc, "exec_command", Map.of("cmd", patch, "workdir", "/etc"));
        notDenied(etc, "Bash", Map.of("command", patch));
    }

    @Test
    void whatAShellDoesIsNotAllowedByThePathsThatItNames() {
        List<String> project = List.of("/srv/project/**");
        String patch = "*** Begin Patch\n*** Add File: a\n+$(rm -rf /)\n*** End Patch";
        notAllowed(project, "Bash", Map.of("command", "rm -rf /; apply_patch <<'EOF'\n" + patch + "\nEOF"));
        notAllowed(project, "Bash", Map.of("command", patch));
        notAllowed(project, "exec_command", Map.of("cmd", "rm -rf /", "workdir", "/srv/project/a"));
        notAllowed(project, "mcp__x__run", Map.of("command", "rm -rf /", "cwd", "/srv/project/a"));
        notAllowed(project, "mcp__x__run", Map.of("command", patch, "cwd", "/srv/project/a"));
        allowed(project, "str_replace_based_edit_tool", Map.of("command", "view", "path", "/srv/project/a"));
    }

    static Stream<Arguments> foldersOfCalls() {
        return Stream.of(
                        "cwd",
                        "workdir",
                        "working_directory",
                        "dir",
                        "directory",
                        "folder",
                        "workingDir",
                        "root",
                        "repo_path",
                        "projectRootPath",
                        "base_path",
                        "workspace",
                        "outputFolder",
                        "pwd",
                        "project_root",
                        "relative_to",
                        "base",
                        "parent",
                        "repository",
                        "current-directory")
                .map(Arguments::of);
    }

    @ParameterizedTest
    @MethodSource("foldersOfCalls")
    void relativePathsLeadFromTheFolderThatTheCallNames(String key) {
        denied(List.of("/etc/ssl/x"), "mcp__fs__w", Map.of("file", "x", key, "/etc/ssl"));
        denied(List.of("/etc/ssl/**"), "mcp__fs__w", Map.of("file", "x", key, "/etc/ssl"));
        denied(List.of("/etc/*"), "mcp__fs__w", Map.of("file", "../x", key, "/etc/ssl"));
        denied(
                List.of("/etc/ssl/x"),
                "mcp__fs__w",
                Map.of("files", List.of("a", "x"), "in", Map.of(key, "../../etc/ssl")));
        denied(List.of("/srv/project/x"), "mcp__fs__w", Map.of("file", "x", key, "/tmp"));
        notAllowed(List.of("/srv/project/**"), "mcp__fs__w", Map.of("file", "x", key, "/etc/ssl"));
        notAllowed(List.of("/tmp/**"), "mcp__fs__w", Map.of("file", "x", key, "/tmp/a"));
        allowed(List.of("/srv/project/**"), "mcp__fs__w", Map.of("file", "x", key, "/srv/project/sub"));
        notDenied(List.of("/etc/ssl/x"), "mcp__fs__w", Map.of("file", "x", key, "sub"));
    }

    /** Words that may mean anything are folders where what they hold looks like one. */
    @ParameterizedTest
    @ValueSource(strings = {"container", "prefix", "in", "at", "from", "to", "under", "within", "inside", "Mount"})
    void anAmbiguousNameIsAFolderWhereItsTextLooksLikeOne(String key) {
        denied(List.of("/etc/ssl/x"), "mcp__fs__w", Map.of("file", "x", key, "/etc/ssl"));
        denied(List.of("/etc/ssl/x"), "mcp__fs__w", Map.of("file", "x", key, "%2fetc/ssl"));
        denied(List.of("/etc/ssl"), "mcp__fs__move", Map.of(key, "../../etc/ssl"));
        denied(List.of("~/x"), "mcp__fs__w", Map.of("file", "x", key, "~"));
        notAllowed(List.of("/srv/project/**"), "mcp__fs__w", Map.of("file", "x", key, "/etc/ssl"));
        allowed(List.of("/srv/project/a"), "mcp__fs__w", Map.of("file", "a", key, "query"));
        notDenied(List.of("/srv/project/query"), "mcp__fs__w", Map.of("file", "a", key, "query"));
    }

    @Test
    void aFilesUrlIsOneUnderAnyKey() {
        for (String url : List.of(
                "file:///etc/x", "<file:///etc/x>", " (file:///etc/x) ", "[\"FILE:/etc/x\"]", "`file:/etc/x`")) {
            denied(List.of("/etc/**"), "mcp__x__y", Map.of("thing", url));
            notAllowed(List.of("/srv/project/**"), "mcp__x__y", Map.of("path", "a", "thing", url));
        }
        notDenied(List.of("/etc/**"), "mcp__x__y", Map.of("text", "see file:///etc/x"));
    }

    static Stream<Arguments> spellings() {
        return Stream.of(
                        " /etc/x",
                        "/etc/x ",
                        "\t/etc/x\n",
                        "\u00a0/etc/x",
                        "\ufeff/etc/x",
                        "\"/etc/x\"",
                        "'/etc/x'",
                        "@/etc/x",
                        "</etc/x>",
                        "(/etc/x)",
                        "[/etc/x]",
                        "{/etc/x}",
                        "<file:///etc/x>",
                        " [ '(/etc/x)' ]",
                        "/etc/x/",
                        "/etc/./x",
                        "//etc//x",
                        "/../etc/x",
                        "/a/../etc/x",
                        "/%65tc/x",
                        "/%2565tc/x",
                        "/a%2f..%2f../etc/x",
                        "\\etc\\x",
                        "..\\..\\etc\\x",
                        "../../etc/x",
                        "~/../../etc/x",
                        "$PWD/../../etc/x",
                        "sftp://host/etc/x",
                        "file://host/etc/x",
                        "/etc/\u0000x",
                        "/ETC/X",
                        "/e\u200btc/x",
                        "/\uff45tc/x")
                .map(Arguments::of);
    }

    @ParameterizedTest
    @MethodSource("spellings")
    void oneSpellingIsEnoughToDenyAndNoneToAllow(String path) {
        for (Map<String, Object> input : List.<Map<String, Object>>of(
                Map.of("file_path", path),
                Map.of("uri", path),
                Map.of("notebook_path", path),
                Map.of("paths", List.of("a", path)),
                Map.of("edits", List.of(Map.of("x", List.of(Map.of("fileName", path))))),
                Map.of("files", Map.of(path, "text")),
                Map.of("src", "a", "dst", path),
                Map.of("file1", "a", "target", path),
                Map.of("output", "a", "location", path),
                Map.of("path", "a", "glob", path),
                Map.of("path", path, "pattern", "a"))) {
            denied(List.of("/etc/**", "/"), "Write", input);
            notAllowed(List.of("/srv/project/**"), "Write", input);
        }
    }

    @Test
    void homesAreKnown() {
        for (String home : List.of("~", "$HOME", "${HOME}", " ~", HOME)) {
            denied(List.of("~/.ssh/**"), "Read", Map.of("file_path", home + "/.ssh/id"));
            denied(List.of("~/.ssh/**"), "LS", Map.of("path", home + "/.ssh"));
            denied(List.of("~"), "LS", Map.of("path", home));
            notAllowed(List.of("/srv/project/**"), "Read", Map.of("file_path", home + "/x"));
        }
        allowed(List.of("~/**"), "Read", Map.of("file_path", "~/x"));
        denied(List.of("/root/**"), "Read", Map.of("file_path", "~root/x"));
        notAllowed(List.of("/srv/project/**"), "Read", Map.of("file_path", "~root/x"));
    }

    @Test
    void whatIsAllowedStaysAllowed() {
        List<String> project = List.of("/srv/project/**");
        for (String path : List.of(
                "a",
                "./a",
                "a/../b",
                "/srv/project",
                "@types/x",
                "a b ",
                "100%",
                "a%20b",
                "$id.tsx",
                "~x/..",
                "\u00e9",
                "file:///srv/project/a",
                "app/(group)/[id].tsx",
                "[id]",
                "(a",
                "a]",
                "()",
                ".")) {
            if (!path.startsWith("~")) {
                allowed(project, "Read", Map.of("file_path", path));
            }
            notDenied(List.of("/etc/**"), "Read", Map.of("file_path", path));
        }
        // Neither names a path.
        for (Map<String, Object> input : List.<Map<String, Object>>of(
                Map.of("profile", "/etc/x"),
                Map.of("old_string", "/etc/x"),
                Map.of("url", "https://h/etc/x"),
                Map.of("uri", "https://h/etc/x"))) {
            notDenied(List.of("/etc/**"), "Edit", input);
        }
    }

    @Test
    void aSearchNamesTheFolderThroughWhichItLooks() {
        denied(List.of("/etc/**"), "Grep", Map.of("pattern", "x", "path", "/etc"));
        denied(List.of("/etc/*"), "Grep", Map.of("pattern", "x", "path", "/etc/"));
        denied(List.of("/srv/project/**"), "Grep", Map.of("pattern", "x"));
        denied(List.of("/etc/**"), "Glob", Map.of("pattern", "/etc/**/*.conf"));
        denied(List.of("/etc/**"), "find", Map.of("pattern", "../../etc/*"));
        denied(List.of("/etc/passwd"), "Glob", Map.of("pattern", "passwd", "path", "/etc"));
        denied(List.of("**/.env"), "Grep", Map.of("pattern", "KEY", "glob", "**/.env"));
        notDenied(List.of("/etc/**"), "Grep", Map.of("pattern", "/etc/x"));
        allowed(List.of("/srv/project/**"), "Grep", Map.of("pattern", "/etc/x"));
        allowed(List.of("/srv/project/**"), "Glob", Map.of("pattern", "src/**/*.java"));
        notAllowed(List.of("/srv/project/**"), "Glob", Map.of("pattern", "*/../../../etc/*"));
        notAllowed(List.of("/srv/project/*"), "Grep", Map.of("pattern", "x", "path", "/srv/project"));
        denied(List.of("/etc/**"), "LS", Map.of("path", "/etc"));
    }

    @Test
    void twoStarsAreNoFolderToo() {
        denied(List.of("/srv/**/secret"), "Read", Map.of("path", "/srv/secret"));
        denied(List.of("/srv/**/secret"), "Read", Map.of("path", "a/b/secret"));
        denied(List.of("**/.env"), "Read", Map.of("path", "/.env"));
        notDenied(List.of("**/.env"), "Read", Map.of("path", "x.env"));
        denied(List.of("/etc**"), "Read", Map.of("path", "/etcetera/x"));
        notDenied(List.of("/etc/**"), "Read", Map.of("path", "/etcetera"));
        // Composed or not, it is the same name to a file system that does not tell them apart.
        denied(List.of("**/cafe\u0301/*"), "Read", Map.of("path", "caf\u00e9/x"));
        denied(List.of("**/caf\u00e9/*"), "Read", Map.of("path", "cafe\u0301/x"));
        Map<String, Object> config = Map.of("rules.0.action", "deny", "rules.0.paths", new String[] {"**/.env"});
        // No folder is known here.
        assertInstanceOf(
                Decision.Deny.class,
                new ToolPolicy(config)
                        .decide(ToolCalls.of(Agent.PI, "read", Map.of("path", ".env")))
                        .toCompletableFuture()
                        .join());
    }

    @Test
    void manyPathsAndLongOnesAreSoonJudged() {
        List<String> many = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) {
            many.add("d" + i);
        }
        assertTimeout(Duration.ofSeconds(20), () -> {
            denied(List.of("/etc/**"), "mcp__x__y", Map.of("files", many, "dirs", many, "globs", many));
            notAllowed(List.of("/**"), "mcp__x__y", Map.of("files", many, "dirs", many, "globs", many));
            notDenied(List.of("/etc/**"), "mcp__x__y", Map.of("files", many));
            for (String piece : List.of(" ", "%41", "url:", "\\", "@", "\"", "%25", "cd -a ", "*** ", "\n")) {
                String text = "a" + piece.repeat(50_000) + "b";
                decide("deny", List.of("/etc/**"), "Bash", Map.of("path", text, "command", text + "\n*** Add File: a"));
                decide("deny", List.of("/etc/**"), "Bash", Map.of("path", piece.repeat(50_000)));
            }
        });
    }

    @Test
    void aPatternThatNoPathMatchesIsRefused() {
        for (String pattern : List.of("etc/x", "*.env", ".env", "src/**", "file:///etc/x", "~me/x")) {
            assertEquals(
                    "rules.0.paths: \"" + pattern + "\" matches nothing; begin it with /, ~/ or **/", refusal(pattern));
        }
        for (String pattern : List.of("/etc/", "/etc//x", "/etc/./x", "/a/../etc", "~/", "**/..")) {
            assertEquals(
                    "rules.0.paths: \"" + pattern
                            + "\" matches nothing; write it without //, /./, /../ and a / at its end",
                    refusal(pattern));
        }
        assertEquals("rules.0.paths: \" /x\" is blank or has blanks around it, so it matches nothing", refusal(" /x"));
    }

    private static String refusal(String pattern) {
        return assertThrows(
                        PluginConfigException.class,
                        () -> decide("deny", List.of(pattern), "Read", Map.of("path", "x")))
                .getMessage();
    }
}
