package org.nemorelay.cli.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CompletionTest {
    @TempDir
    Path folder;

    private Path script;

    @BeforeEach
    void write() throws IOException {
        script = Files.writeString(folder.resolve("completion.bash"), new Commands().completion("bash"));
    }

    @Test
    void bashAcceptsIt() throws Exception {
        assertEquals("", bash("bash -n " + script));
        assertTrue(bash("source " + script + "; complete -p nemo-relay").endsWith(" nemo-relay\n"));
    }

    /** The line up to the cursor, the word under it last. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    ''                       | agent-worker carriers completion config daemon demo frontend help node plugins status
                    da                       | daemon
                    --log-level ''           | debug error info trace warn
                    daemon ''                | help hook mcp tls-certificate token worker
                    daemon token ''          | ensure help
                    daemon --adv             | --advertise-address
                    daemon mcp --            | --daemon-address --help
                    daemon hook c            | claude codex
                    daemon hook claude --fa  | --fail-closed --fail-open
                    completion ''            | bash fish zsh
                    """)
    void bashOffers(String typed, String offered) throws Exception {
        String line = typed.replace("''", "");
        List<String> words = List.of(line.split(" ", -1));
        // compopt works while the shell itself completes only.
        String said = bash("source " + script + "; compopt() { :; }; COMP_LINE='nemo-relay " + line
                + "'; COMP_POINT=${#COMP_LINE};"
                + " COMP_WORDS=(nemo-relay '" + String.join("' '", words) + "'); COMP_CWORD=" + words.size() + ";"
                + " $(complete -p nemo-relay | sed 's/.*-F \\([^ ]*\\).*/\\1/') nemo-relay '" + words.getLast()
                + "'; printf '%s\\n' \"${COMPREPLY[@]}\"");
        Set<String> replies = new TreeSet<>(said.lines().map(String::strip).toList());
        replies.removeAll(Set.of("", "completions"));
        assertEquals(new TreeSet<>(List.of(offered.split(" "))), replies);
    }

    @Test
    void fishKnowsEveryCommandAndOption() {
        String fish = new Commands().completion("fish");
        assertTrue(fish.contains("-n '__nemo_relay_at daemon token' -a ensure -d 'Make"), fish);
        assertTrue(fish.contains("-n '__nemo_relay_at daemon hook' -a 'claude codex pi'"), fish);
        assertTrue(fish.contains("-n '__nemo_relay_at \"\"' -l log-level -x -a 'error warn"), fish);
    }

    private static String bash(String commands) throws IOException, InterruptedException {
        Process bash = new ProcessBuilder("bash", "--norc", "-c", commands)
                .redirectErrorStream(true)
                .start();
        bash.getOutputStream().close();
        String output = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, bash.waitFor(), output);
        return output;
    }
}
