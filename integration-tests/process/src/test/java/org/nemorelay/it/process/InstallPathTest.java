package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.Proc;
import org.nemorelay.it.User;

/** Where a tree may lie, and what is said where it may not. */
class InstallPathTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final byte[] STOP = "{\"hook_event_name\":\"Stop\"}".getBytes(StandardCharsets.UTF_8);

    @TempDir
    Path folder;

    private Proc.Result hook(Path tree, String... flags) {
        User user = User.self(folder.resolve("home"));
        Proc.Spec spec = user.spec(
                tree.resolve("bin/nemo-relay").toString(),
                "daemon",
                "hook",
                "claude",
                "--daemon-address",
                "http://127.0.0.1:1");
        // It ends before it reads, so it is given nothing.
        return spec.command(flags).run(LIMIT);
    }

    /** In the C locale, in which services run; by a shell, as this process may have that locale too. */
    @Test
    void blanksQuotesAndLettersOfOtherScripts() {
        String script = """
                tree="$2/it's a \\"$(printf 'gr\\303\\274ner')\\" tree"
                cp -al "$1" "$tree"
                status=0
                "$tree/bin/nemo-relay" daemon hook claude --daemon-address http://127.0.0.1:1 || status=$?
                rm -rf "$tree"
                exit $status
                """;
        Proc.Result result = User.self(folder.resolve("home"))
                .spec("sh", "-c", script, "sh", Distribution.tree().toString(), folder.toString())
                .env("LC_ALL", "C")
                .run(STOP, LIMIT);
        assertEquals("", result.stderr());
        assertEquals(0, result.exit());
        assertEquals("{\"continue\":true}", result.stdout());
    }

    /** A hook that cannot even start must not let a tool call pass: any other status than 2 would. */
    @Test
    void aColonAndAMissingRuntimeAreTold() throws IOException {
        Path tree = Distribution.privateTree(folder.resolve("a:b"), "", "");
        String line = "nemo-relay: a colon in the name of the folder " + tree.toRealPath()
                + " keeps Java from its files: move the installed tree\n";
        Proc.Result result = hook(tree);
        assertEquals(2, result.exit());
        assertEquals(line, result.stderr());
        assertEquals(0, hook(tree, "--fail-open").exit());
        Proc.Result status = User.self(folder.resolve("home"))
                .spec(tree.resolve("bin/nemo-relay").toString(), "status")
                .run(LIMIT);
        assertEquals(1, status.exit());
        assertEquals(line, status.stderr());

        Path moved = Files.move(tree, folder.resolve("b"));
        Files.delete(moved.resolve("runtime/bin/java"));
        Proc.Result without = hook(moved);
        assertEquals(2, without.exit());
        assertEquals(
                "nemo-relay: " + moved.toRealPath() + "/runtime/bin/java is missing: install again\n",
                without.stderr());
    }
}
