package org.nemorelay.plugin.toolpolicy.internal;

import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Programs and words of shells that start the command behind them. Stateless. */
final class Starters {
    /** Behind their options the command follows. */
    private static final String ALONE =
            "sudo doas pkexec run0 env command exec builtin nohup setsid nice ionice time gtime xargs "
                    + "watch stdbuf unbuffer script strace ltrace gdb perf valgrind catchsegv chronic unshare nsenter setpriv numactl "
                    + "prlimit linux32 linux64 i386 x86_64 fakeroot capsh runcon systemd-inhibit batch busybox toybox eval trap alias "
                    + "coproc noglob nocorrect entr caffeinate rlwrap torsocks tsocks proxychains proxychains4 dbus-run-session "
                    + "dbus-launch xvfb-run start-stop-daemon daemonize sem tsp hyperfine npx pnpx bunx uvx pipx spawn sh bash zsh dash "
                    + "ksh mksh ash yash fish rbash csh tcsh xonsh nu elvish pwsh powershell source . ld.so";

    /** A time, a file, a folder, a host, a user or the like stands before the command. */
    private static final String BEHIND_ONE =
            "timeout gtimeout flock chroot taskset setarch chrt ssh autossh mosh su runuser sg "
                    + "sshpass cpulimit faketime repeat at softlimit setlock chpst";

    /** There may be anything before the command. */
    private static final String ANYWHERE =
            "parallel tmux screen systemd-run bwrap firejail expect cmd wsl nc ncat socat";

    /** They write what a shell may read. */
    private static final Set<String> WRITERS = Set.of("echo", "printf", "print");

    /** Only behind one of these words. */
    private static final Map<String, String> MARKED = Map.of(
            "find gfind", "-exec -execdir -ok -okdir",
            "fd fdfind", "-x -X --exec --exec-batch",
            "docker podman nerdctl crictl kubectl oc lxc incus flatpak vagrant", "run exec debug -c -- --command",
            "npm pnpm yarn bun", "exec x dlx -c -- --call",
            "uv poetry pipenv pdm hatch rye conda mamba micromamba pixi mise asdf direnv bundle dotenv",
                    "run exec x -c -- --command",
            "nix nix-shell devbox op doppler aws-vault chamber", "run exec -c -- --run --command shell",
            "git", "run foreach -x --exec --tree-filter --index-filter --msg-filter --env-filter -c");

    private static final Map<String, Integer> OPERANDS = operands();
    private static final Map<String, Set<String>> MARKS = marks();

    private static final Pattern LOADER = Pattern.compile("ld-linux[\\w.-]*|ld-musl[\\w.-]*");
    private static final Pattern SHELL = Pattern.compile(
            "(?:^|[\\s;&|(`{/\"'])(?:(?:ba|z|da|k|mk|a|ya|fi|rba|c|tc)?sh|eval|source|\\.|xargs|parallel|at|batch)"
                    + "(?=$|[\\s;&|)`\"'<\\\\])");

    private Starters() {}

    /** Whether something in the text may run what other commands of it write. */
    static boolean readsCommands(String text) {
        return SHELL.matcher(text).find();
    }

    /**
     * Marks where the command may begin that the one at {@code at} starts: behind options each of which may take the next word.
     *
     * @param fed whether what is written may be run
     * @return whether it starts any
     */
    static boolean mark(List<String> words, int at, boolean fed, BitSet begins) {
        String name = Meant.program(words.get(at)).toLowerCase(Locale.ROOT);
        Set<String> marks = MARKS.get(name);
        if (marks != null) {
            return markBehind(words, at, marks, begins);
        }
        Integer given =
                LOADER.matcher(name).matches() || name.startsWith("$") ? Integer.valueOf(0) : OPERANDS.get(name);
        if (fed && WRITERS.contains(name)) {
            given = words.size();
        }
        if (given == null) {
            return false;
        }
        int operands = given;
        boolean behindOption = false;
        for (int i = at + 1; i < words.size() && operands >= 0; i++) {
            String word = words.get(i);
            if (word.startsWith("-")) {
                behindOption = !valued(word);
                continue;
            }
            begins.set(i);
            if (!behindOption && word.indexOf('=') <= 0) {
                operands--;
            }
            behindOption = false;
        }
        return true;
    }

    /** Whether an option has its value, as in {@code --user=root} and {@code -n1}. */
    private static boolean valued(String option) {
        return option.indexOf('=') > 0 || Character.isDigit(option.charAt(option.length() - 1));
    }

    private static boolean markBehind(List<String> words, int at, Set<String> marks, BitSet begins) {
        boolean marked = false;
        for (int i = at + 1; i < words.size(); i++) {
            if (marked && !words.get(i).startsWith("-")) {
                begins.set(i);
            }
            marked |= marks.contains(words.get(i));
        }
        return marked;
    }

    private static Map<String, Integer> operands() {
        Map<String, Integer> operands = new HashMap<>();
        for (String name : ALONE.split(" ")) {
            operands.put(name, 0);
        }
        for (String name : BEHIND_ONE.split(" ")) {
            operands.put(name, 1);
        }
        for (String name : ANYWHERE.split(" ")) {
            operands.put(name, Integer.MAX_VALUE);
        }
        return Map.copyOf(operands);
    }

    private static Map<String, Set<String>> marks() {
        Map<String, Set<String>> marks = new HashMap<>();
        MARKED.forEach((names, words) -> {
            for (String name : names.split(" ")) {
                marks.put(name, Set.of(words.split(" ")));
            }
        });
        return Map.copyOf(marks);
    }
}
