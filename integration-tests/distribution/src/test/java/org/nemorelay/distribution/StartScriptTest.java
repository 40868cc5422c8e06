package org.nemorelay.distribution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.Proc;

/** The shipped script in a tree whose Java prints what it was given, one argument a line. */
class StartScriptTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    @TempDir
    Path folder;

    private Path tree;
    private Path script;

    @BeforeEach
    void makeTree() throws Exception {
        tree = folder.toRealPath().resolve("a tree's \"home\" $HOME");
        script = tree.resolve("bin/nemo-relay");
        Path java = tree.resolve("runtime/bin/java");
        Files.createDirectories(script.getParent());
        Files.createDirectories(java.getParent());
        Files.createDirectories(tree.resolve("lib/aot"));
        Files.copy(Distribution.tree().resolve("bin/nemo-relay"), script);
        Files.writeString(java, """
                #!/bin/sh
                printf '%s\\n' "$@"
                printf 'variables: %s\\n' "${JAVA_TOOL_OPTIONS-}${JDK_JAVA_OPTIONS-}${_JAVA_OPTIONS-}${CLASSPATH-}"
                """);
        for (Path file : List.of(script, java)) {
            assertTrue(file.toFile().setExecutable(true));
        }
    }

    @Test
    void argumentsKeepSpacesAndQuotes() {
        List<String> lines =
                run(Proc.spec().command(script.toString(), "demo", "a b", "", "it's", "\"q\"", "$HOME", "*"));
        assertEquals(List.of("demo", "a b", "", "it's", "\"q\"", "$HOME", "*"), after(lines, "org.nemorelay.cli.Main"));
    }

    @Test
    void findsItsTreeThroughLinksFromAnyFolder() throws Exception {
        Path away = Files.createDirectories(folder.resolve("else where"));
        Path relative =
                Files.createSymbolicLink(away.resolve("one"), away.toRealPath().relativize(script));
        Path chained = Files.createSymbolicLink(away.resolve("two"), Path.of("one"));
        Path linkedFolder = Files.createSymbolicLink(away.resolve("bin"), script.getParent());
        for (String command : List.of(
                relative.toString(),
                chained.toString(),
                linkedFolder.resolve("nemo-relay").toString(),
                "./two")) {
            List<String> lines = run(Proc.spec().command(command, "x").in(away));
            assertTrue(lines.contains("-Dnemorelay.home=" + tree), command + " " + lines);
        }
        List<String> byShell = run(Proc.spec().command("/bin/sh", "two", "x").in(away));
        assertTrue(byShell.contains("-Dnemorelay.home=" + tree), byShell::toString);
        List<String> byPath = run(Proc.spec().command("/bin/sh", "-c", "two x").env("PATH", away + ":/usr/bin:/bin"));
        assertTrue(byPath.contains("-Dnemorelay.home=" + tree), byPath::toString);
    }

    @Test
    void variablesForOtherJavaProgramsDoNotReachIt() {
        List<String> lines = run(Proc.spec()
                .command(script.toString(), "x")
                .env("JAVA_TOOL_OPTIONS", "-Xa")
                .env("JDK_JAVA_OPTIONS", "-Xb")
                .env("_JAVA_OPTIONS", "-Xc")
                .env("CLASSPATH", "d")
                .env("JAVA_HOME", "/nowhere"));
        assertEquals("variables: ", lines.getLast());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    daemon hook codex --fail-open     | hook   | org.nemorelay.hook.HookMain | codex --fail-open
                    daemon mcp --daemon-address u     | mcp    | org.nemorelay.mcp.McpMain   | --daemon-address u
                    daemon                            | daemon | org.nemorelay.cli.Main      | daemon
                    daemon --port 1                   | daemon | org.nemorelay.cli.Main      | daemon --port 1
                    --log-level debug daemon --port 1 | daemon | org.nemorelay.cli.Main      | --log-level debug daemon --port 1
                    --config=/x daemon worker         | worker | org.nemorelay.cli.Main      | --config=/x daemon worker
                    daemon worker --bind 127.0.0.1    | worker | org.nemorelay.cli.Main      | daemon worker --bind 127.0.0.1
                    daemon token ensure               | cli    | org.nemorelay.cli.Main      | daemon token ensure
                    daemon --help                     | cli    | org.nemorelay.cli.Main      | daemon --help
                    --version                         | cli    | org.nemorelay.cli.Main      | --version
                    status --json                     | cli    | org.nemorelay.cli.Main      | status --json
                    """)
    void theCommandDecidesCacheMainClassAndArguments(String command, String role, String main, String arguments)
            throws Exception {
        Path cache = Files.writeString(tree.resolve("lib/aot/" + role + ".aot"), "");
        List<String> lines = run(Proc.spec()
                .command(Stream.concat(Stream.of(script.toString()), Stream.of(command.split(" ")))
                        .toList()));
        assertTrue(lines.contains("-XX:AOTCache=" + cache), lines::toString);
        assertEquals(List.of(arguments.split(" ")), after(lines, main));
    }

    @Test
    void withoutACacheItStartsAllTheSame() {
        List<String> lines = run(Proc.spec().command(script.toString(), "x"));
        assertFalse(lines.stream().anyMatch(line -> line.startsWith("-XX:AOT")), lines::toString);
    }

    @Test
    void theTemporaryFolderIsTheUsersWhereThereIsOne() throws Exception {
        Path temporary = Files.createDirectory(folder.resolve("a b"));
        List<String> lines = run(Proc.spec().command(script.toString(), "x").env("TMPDIR", temporary.toString()));
        assertTrue(lines.contains("-Djava.io.tmpdir=" + temporary), lines::toString);
        List<String> without = run(Proc.spec().command(script.toString(), "x").env("TMPDIR", "/nowhere"));
        assertFalse(without.stream().anyMatch(line -> line.startsWith("-Djava.io.tmpdir")), without::toString);
    }

    /** Runs with nothing in the environment but what the specification adds. */
    private static List<String> run(Proc.Spec spec) {
        Proc.Result result = spec.run(LIMIT);
        assertEquals(0, result.exit(), result.stderr());
        assertEquals("", result.stderr());
        return result.stdout().lines().toList();
    }

    private static List<String> after(List<String> lines, String main) {
        assertTrue(lines.contains(main), lines::toString);
        return lines.subList(lines.indexOf(main) + 1, lines.size() - 1);
    }
}
