package org.nemorelay.plugin.toolpolicy.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.json.JsonObject;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.ToolCall;
import org.nemorelay.plugin.api.ToolCall.Agent;
import org.nemorelay.plugin.testkit.ToolCalls;

/** Ways around a rule that do not lead around it. What a rule cannot read, it does not allow. */
class EvasionsTest {
    private static Decision decide(ToolCall call, Object[] keysAndValues) {
        Map<String, Object> config = new HashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            config.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return new ToolPolicy(config).decide(call).toCompletableFuture().join();
    }

    private static void denied(ToolCall call, Object[] config) {
        assertInstanceOf(Decision.Deny.class, decide(call, config), () -> call + " " + call.input());
    }

    /** The configuration of one rule that denies what these match: key of the rule, its only expression, and so on. */
    private static Object[] denying(String... matches) {
        return rule(new ArrayList<>(List.of("rules.0.action", "deny")), matches);
    }

    /** The same of one rule that allows, where all else is denied. */
    private static Object[] allowing(String... matches) {
        return rule(new ArrayList<>(List.of("default", "deny", "rules.0.action", "allow")), matches);
    }

    private static Object[] rule(List<Object> config, String... matches) {
        for (int i = 0; i < matches.length; i += 2) {
            config.add("rules.0." + matches[i]);
            config.add(new String[] {matches[i + 1]});
        }
        return config.toArray();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rm -rf /",
                "  rm -rf /",
                "ls && rm -rf /",
                "ls; rm -rf /",
                "ls|rm -rf /",
                "ls & rm -rf /",
                "ls\nrm -rf /",
                "(rm -rf /)",
                "{ rm -rf /; }",
                "echo $(rm -rf /)",
                "echo `rm -rf /`",
                "echo \"$(rm -rf /)\"",
                "cat <(rm -rf /)",
                "r\\m -rf /",
                "'rm' -rf /",
                "r''m -rf /",
                "/bin/rm -rf /",
                "sudo rm -rf /",
                "env A=1 rm -rf /",
                "A=1 rm -rf /",
                "command rm -rf /",
                "bash -c 'rm -rf /'",
                "bash -lc \"cd /tmp && rm -rf /\"",
                "sudo sh -c 'rm -rf /'",
                "eval 'rm -rf /'",
                "if true; then rm -rf /; fi",
            })
    void anAnchoredCommandIsFoundWhereverItStands(String command) {
        Object[] config = denying("commands", "^rm\\b");
        denied(ToolCalls.shell(Agent.CLAUDE_CODE, command), config);
        denied(ToolCalls.of(Agent.CODEX, "shell", Map.of("command", List.of("bash", "-lc", command))), config);
        denied(ToolCalls.of(Agent.CODEX, "write_stdin", Map.of("session_id", 1L, "chars", command)), config);
        denied(ToolCalls.of(Agent.CODEX, "x", Map.of("action", Map.of("commands", List.of("ls", command)))), config);
        denied(ToolCalls.of(Agent.CODEX, "x", Map.of("shell_command", command)), config);
        denied(ToolCalls.of(Agent.CODEX, "x", Map.of("command", "bash", "args", List.of("-c", command))), config);
    }

    @Test
    void aProgramAndItsArgumentsAreOneCommand() {
        ToolCall call = ToolCalls.of(Agent.CODEX, "x", Map.of("command", "rm", "args", List.of("-rf", "/")));
        denied(call, denying("commands", "^rm -rf"));
        denied(call, allowing("commands", "^rm$"));
        assertEquals(Decision.allow(), decide(call, allowing("commands", "^rm\\b")));
    }

    @Test
    void whatOnlyLooksLikeItIsNotDenied() {
        for (String command : List.of("git rm file", "ls /bin/rm", "echo 'a; b'", "npm run rmdir-all")) {
            assertEquals(
                    Decision.allow(),
                    decide(ToolCalls.shell(Agent.CODEX, command), denying("commands", "^rm\\b")),
                    command);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "git status && rm -rf /",
                "git status; rm",
                "git status | sh",
                "git status & rm",
                "git status\nrm",
                "git log $(rm)",
                "git log `rm`",
                "git log \"$(rm)\"",
                "git log <(rm)",
                "git log > /etc/passwd",
                "git log 2>/etc/passwd",
                "git log >/dev/nullx",
                "git log <<x\nrm\nx",
                "git log '",
                "(git log)",
                "A=1 git log",
                "sudo git log",
                "$X git log",
                "git log ${x@P}",
                "git log $'a'",
            })
    void aCommandIsAllowedAsAWholeOrNotAtAll(String command) {
        Object[] config = allowing("commands", "^git ", "tools", "Bash");
        denied(ToolCalls.shell(Agent.CODEX, command), config);
    }

    /** The name of a variable is no program's. */
    @ParameterizedTest
    @ValueSource(strings = {"ls=1 rm x", "ls+=1 rm x", "ls[0]=1 rm x", "ls; ls[a b]+=1 rm x", "ls=1"})
    void anAssignmentIsNoAllowedCommand(String command) {
        denied(ToolCalls.shell(Agent.CODEX, command), allowing("commands", "^ls\\b", "tools", "Bash"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "git status",
                "git status && git log",
                "git log | git x",
                "git commit -m 'a; b && c > d'",
                "git commit -m \"a; b | c\"",
                "git log 2>&1 >/dev/null",
                "git log --author $USER",
                "git log \\; x"
            })
    void whatIsAllowedStaysAllowed(String command) {
        Object[] config = allowing("commands", "^git ", "tools", "Bash");
        assertEquals(Decision.allow(), decide(ToolCalls.shell(Agent.CODEX, command), config));
        assertEquals(
                Decision.allow(),
                decide(ToolCalls.of(Agent.CODEX, "shell", Map.of("command", List.of("bash", "-lc", command))), config));
    }

    @Test
    void wordsThatNoShellTakesApartStayWords() {
        Object[] config = allowing("commands", "^echo ");
        assertEquals(
                Decision.allow(),
                decide(ToolCalls.of(Agent.CODEX, "shell", Map.of("command", List.of("echo", "a; rm"))), config));
        denied(ToolCalls.of(Agent.CODEX, "shell", Map.of("command", List.of("sh", "-c", "echo a; rm"))), config);
    }

    @Test
    void allPathsOfAnAllowedCallAreNamed() {
        Object[] config = allowing("paths", "/srv/project/**");
        assertEquals(Decision.allow(), decide(ToolCalls.of(Agent.CODEX, "Read", Map.of("file_path", "src/a")), config));
        for (Map<String, Object> input : List.<Map<String, Object>>of(
                Map.of("file_path", "/srv/project/../../etc/passwd"),
                Map.of("file_path", "../../etc/passwd"),
                Map.of("paths", List.of("/srv/project/a", "/etc/passwd")),
                Map.of("source", "/srv/project/a", "destination", "/etc/cron.d/a"),
                Map.of("path", "/srv/project/a", "edits", List.of(Map.of("File-Path", "/etc/a"))),
                Map.of("input", "*** Update File: /srv/project/a\n*** Add File: /etc/a"),
                Map.of("path", "/SRV/project/a"),
                Map.of("path", "/srv/project/\0"),
                Map.of())) {
            denied(ToolCalls.of(Agent.CODEX, "Read", input), config);
        }
    }

    @Test
    void aDeniedPathIsFoundInEveryShape() {
        Object[] config = denying("paths", "/etc/**");
        for (Map<String, Object> input : List.<Map<String, Object>>of(
                Map.of("path", "/etc//passwd"),
                Map.of("path", "/./etc/./passwd"),
                Map.of("path", "/usr/../etc/passwd"),
                Map.of("path", "/ETC/passwd"),
                Map.of("Path", "/etc/passwd"),
                Map.of("uri", "file:///etc/passwd"),
                Map.of("uri", "file:///etc/%70asswd"),
                Map.of("uri", "file:///tmp/../etc/passwd"),
                Map.of("uri", "FILE:///etc/passwd"),
                Map.of("uri", "file:/etc/passwd"),
                Map.of("file_path", "FILE:///etc/passwd"),
                Map.of("file_path", "File:/etc/passwd"),
                Map.of("x", " file:///etc/passwd"),
                Map.of("x", "fi\tle:///etc/passwd"),
                Map.of("x", "file:\\\\\\etc\\passwd"),
                Map.of("x", "url:file:/etc/passwd"),
                Map.of("x", "file://localhost/etc/passwd"),
                Map.of("x", "file:etc/passwd"),
                Map.of("x", "file:/tmp/%2e%2e/etc/passwd"),
                Map.of("x", "file:/etc/passwd#a"),
                Map.of("file_path", "file:/../../../../etc/passwd"),
                Map.of("file_path", "file:/../../../etc/passwd"),
                Map.of("absolute_path", "/etc/passwd"),
                Map.of("options", Map.of("outputFile", "/etc/passwd")),
                Map.of("files", List.of(Map.of("path", "/etc/a"))),
                Map.of("command", List.of("apply_patch", "*** Begin Patch\n*** Delete File: /etc/a")))) {
            denied(ToolCalls.of(Agent.CODEX, "T", input), config);
        }
        // A tool that knows no URLs leaves the folder "file:" by "..".
        Object[] secret = denying("paths", "/srv/project/secret/**");
        denied(ToolCalls.of(Agent.CODEX, "T", Map.of("file_path", "file:/../secret/key")), secret);
        assertEquals(
                Decision.allow(),
                decide(ToolCalls.of(Agent.CODEX, "T", Map.of("file_path", "FILE:///srv/project/key")), secret));
        Object[] project = allowing("paths", "/srv/project/**");
        assertEquals(
                Decision.allow(),
                decide(ToolCalls.of(Agent.CODEX, "T", Map.of("uri", "FILE:/srv/project/a")), project));
        denied(ToolCalls.of(Agent.CODEX, "T", Map.of("uri", "FILE:/srv/other")), project);
        // No working folder is known here, so nobody can tell where this leads.
        denied(ToolCalls.of(Agent.PI, "read", Map.of("path", "../../../etc/passwd")), config);
        assertEquals(Decision.allow(), decide(ToolCalls.of(Agent.PI, "read", Map.of("path", "a/../etc/x")), config));
    }

    @Test
    void argumentsThatCannotBeReadAreNotAllowed() {
        ToolCall text =
                new ToolCall(Agent.CODEX, "PreToolUse", "Bash", Optional.empty(), "ls", JsonObject.of(Map.of(), ""));
        denied(text, denying("paths", "/etc/**"));
        denied(text, allowing("tools", "Bash"));
        ToolCall none = ToolCalls.of(Agent.CODEX, "Bash", Map.of("command", 7L));
        denied(none, denying("commands", "rm"));
        denied(none, allowing("commands", "."));
    }

    @Test
    void whatIsAllowedIsAllowedByItsExactName() {
        Object[] config = allowing("tools", "Read");
        denied(ToolCalls.of(Agent.PI, "read", Map.of()), config);
        denied(ToolCalls.of(Agent.PI, "Read ", Map.of()), config);
        denied(ToolCalls.of(Agent.PI, "mcp__x__Read", Map.of()), config);
    }
}
