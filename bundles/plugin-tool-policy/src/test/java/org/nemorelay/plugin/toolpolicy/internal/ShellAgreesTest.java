package org.nemorelay.plugin.toolpolicy.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Texts at random, given to a real shell: whatever it runs, a rule that denies has seen, and a rule that allows something else
 * has not let pass. For more of them: {@code -Dtexts=10000 -Dseed=7}.
 */
class ShellAgreesTest {
    private static final int TEXTS = Integer.getInteger("texts", 400);
    private static final Path BASH = Path.of("/bin/bash");
    private static final List<String> BEFORE = List.of(
            "A=1 ",
            "a+=b ",
            "a='b c' ",
            ">out ",
            "> 'my out' ",
            "2>&1 ",
            "</dev/null ",
            "&>out ",
            ">|out ",
            "3>out ",
            "sudo ",
            "env ",
            "env -u A B=1 ",
            "nice -n 1 ",
            "timeout 1 ",
            "timeout -k 1 1 ",
            "nohup ",
            "command ",
            "command -p ",
            "exec ",
            "exec -a x ",
            "eval ",
            "time ",
            "time -p ",
            "! ",
            "xargs -n 1 ",
            "echo x | xargs -I {} ",
            "find . -maxdepth 0 -exec ",
            "bash -c -- ",
            "$A ",
            "coproc ",
            "\\\n",
            "  ",
            "# '\n",
            "ls # \"\n",
            "echo \\'; ",
            "echo $'\\''; ",
            "cat <<E\n'\nE\n",
            "cat <<'E'\n\"\nE\n",
            "ls && ",
            "no || ",
            "ls | ",
            "ls & ",
            "ls\n",
            "if ",
            "while ",
            "trap ");
    private static final List<String> NAMES = List.of(
            "rm",
            "r\\m",
            "'rm'",
            "r''m",
            "\"rm\"",
            "$'rm'",
            "$\"rm\"",
            "$'\\x72m'",
            "$'\\162m'",
            "r\\\nm",
            "bin/rm",
            "{rm,x}",
            "ls",
            "x");
    private static final List<String> BEHIND = List.of(
            "",
            " x",
            " 'x y'",
            " >out",
            " $a",
            "\tx",
            " \\;",
            "; ls",
            " &",
            " #",
            " # '",
            "; then :; fi",
            "; do break; done",
            ";;");
    private static final List<String> AROUND = List.of(
            "( % )",
            "{ %; }",
            "$(%)",
            "`%`",
            "echo \"$(%)\"",
            "echo \"`%`\"",
            "cat <(%)",
            "a=$(%)",
            "bash -c '%'",
            "bash -c \"%\"",
            "eval '%'",
            "sh -c'%'",
            "bash <<< '%'",
            "bash <<E\n%\nE",
            "bash <<'E' >out\n%\nE",
            "case x in x) %;; esac",
            "function g { %; }; g",
            "g() ( %\n); g",
            "for i in a; do %; done",
            "until %; do break; done",
            "if %; then :; fi",
            "if no; then :; elif %; then :; fi",
            "if no; then :; else %; fi",
            "[[ x ]] && %",
            "((1)) && %",
            "echo ${b:-$(%)}",
            "echo $((1+$(%)))",
            "trap '%' EXIT",
            "echo '%' | bash",
            "printf '%' | sh",
            "source <(echo '%')",
            "env -S '%'",
            "%\n%");

    private final Random random = new Random(Integer.getInteger("seed", 6));

    @TempDir
    Path folder;

    @Test
    void whatAShellRunsIsSeenAndNotAllowed() throws Exception {
        assumeTrue(Files.isExecutable(BASH), "no bash");
        Path programs = Files.createDirectories(folder.resolve("bin"));
        for (String name : List.of("rm", "ls")) {
            program(programs, name, "echo " + name + " >> \"$RAN\"");
        }
        program(programs, "sudo", "exec \"$@\"");
        for (String name : List.of("env", "bash", "sh", "nice", "timeout", "nohup", "xargs", "find", "cat")) {
            program(programs, name, "exec " + found(name) + " \"$@\"");
        }
        Pattern rule = Pattern.compile("^rm\\b");
        List<String> unseen = new ArrayList<>();
        List<String> allowed = new ArrayList<>();
        int ran = 0;
        for (int i = 0; i < TEXTS; i++) {
            String text = text();
            boolean seen = Meant.any(text, command -> rule.matcher(command).find());
            Shell shell = Shell.of(text);
            boolean lets = shell.certain()
                    && shell.commands().stream()
                            .allMatch(command ->
                                    Pattern.compile("^ls\\b").matcher(command).find());
            if (seen && !lets) {
                ran += i % 10 == 0 && ranRm(text, programs) ? 1 : 0;
                continue;
            }
            if (ranRm(text, programs)) {
                (lets ? allowed : unseen).add(text);
            }
        }
        assertEquals(List.of(), unseen);
        assertEquals(List.of(), allowed);
        assertTrue(ran > 10, "the texts run nothing: " + ran);
    }

    private String text() {
        String text = any(NAMES) + any(BEHIND);
        for (int left = random.nextInt(4); left > 0; left--) {
            text = random.nextBoolean() ? any(BEFORE) + text : any(AROUND).replace("%", text);
        }
        if (random.nextInt(6) == 0) {
            int at = random.nextInt(text.length());
            text = text.substring(0, at)
                    + any(List.of("'", "\"", "\\", "#", " ", "\n", ";", "$", "`", "("))
                    + text.substring(at);
        }
        return text;
    }

    private String any(List<String> pieces) {
        return pieces.get(random.nextInt(pieces.size()));
    }

    private boolean ranRm(String text, Path programs) throws Exception {
        Path work = Files.createTempDirectory(folder, "run");
        Files.createSymbolicLink(work.resolve("bin"), programs);
        Path log = work.resolve("ran");
        ProcessBuilder builder = new ProcessBuilder(BASH.toString(), "-c", text)
                .directory(work.toFile())
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().clear();
        builder.environment().put("PATH", programs.toString());
        builder.environment().put("RAN", log.toString());
        Process process = builder.start();
        if (!process.waitFor(2, TimeUnit.SECONDS)) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }
        return Files.exists(log) && Files.readString(log).contains("rm");
    }

    private static void program(Path folder, String name, String line) throws Exception {
        Path file = Files.writeString(folder.resolve(name), "#!/bin/sh\n" + line + "\n");
        assertTrue(file.toFile().setExecutable(true));
    }

    private static String found(String name) {
        return Files.isExecutable(Path.of("/usr/bin/" + name)) ? "/usr/bin/" + name : "/bin/" + name;
    }
}
