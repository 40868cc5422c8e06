package org.nemorelay.identity;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.nemorelay.identity.internal.KeyFile;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.control.SigningKey;

/**
 * The user's folder of the relay and what it keeps (relay-daemon 4): {@code $XDG_CONFIG_HOME/nemo-relay}, else
 * {@code $HOME/.config/nemo-relay}. Asking for a part does no I/O unless it says so.
 */
@SuppressWarnings("try") // the lock is held, not used
public final class StateFolder {
    private static final int MAX_PORT_BYTES = 16;
    private static final int MAX_PORT = 65_535;

    private final Path base;
    private final Consumer<String> notices;

    private StateFolder(Path base) {
        this(base, notice -> {});
    }

    private StateFolder(Path base, Consumer<String> notices) {
        this.base = base;
        this.notices = notices;
    }

    /** The folder of that environment; {@link FailureKind#CONFIGURATION} when neither variable holds an absolute path. */
    public static StateFolder of(Map<String, String> environment) {
        List<StateFolder> candidates = candidates(environment);
        if (candidates.isEmpty()) {
            throw new RelayException(
                    FailureKind.CONFIGURATION,
                    "the user's configuration folder is unknown: set XDG_CONFIG_HOME or HOME to an absolute path");
        }
        return candidates.getFirst();
    }

    /**
     * The folder of that environment first, then the one it would be without {@code XDG_CONFIG_HOME}: a harness may give that
     * variable to some of its processes only. A relative path counts as none (XDG base directories): it would be another
     * folder in each working folder, which may be anybody's.
     */
    static List<StateFolder> candidates(Map<String, String> environment) {
        List<StateFolder> candidates = new ArrayList<>(2);
        String xdg = environment.getOrDefault("XDG_CONFIG_HOME", "");
        if (xdg.startsWith("/")) {
            candidates.add(new StateFolder(Path.of(xdg, "nemo-relay")));
        }
        String home = environment.getOrDefault("HOME", "");
        if (home.startsWith("/")) {
            Path base = Path.of(home, ".config", "nemo-relay");
            if (candidates.isEmpty() || !candidates.getFirst().base.equals(base)) {
                candidates.add(new StateFolder(base));
            }
        }
        return candidates;
    }

    /** A folder at that place. */
    public static StateFolder at(Path base) {
        return new StateFolder(base);
    }

    /** The same folder; the listener hears of every file in it that is found open to other accounts and closed, in one line. */
    public StateFolder telling(Consumer<String> listener) {
        return new StateFolder(base, listener);
    }

    public Path base() {
        return base;
    }

    /** Where keys, pins and generations are. */
    public Path daemon() {
        return base.resolve("daemon");
    }

    /** The key of this user on this machine, shared by MCP processes and workers; made on first use. Reads and writes files. */
    public SigningKey machineIdentity() {
        return KeyFile.loadOrCreate(files(), daemon().resolve("machine-identity.pk8"));
    }

    /** The key of the daemon that runs as this user; made on first use. Reads and writes files. */
    public SigningKey daemonIdentity() {
        return KeyFile.loadOrCreate(files(), daemon().resolve("daemon-identity.pk8"));
    }

    /** What the daemon that runs as this user is to hooks; made on first use. Reads and writes files. */
    public HookTlsIdentity hookTlsIdentity() {
        return HookTlsIdentity.loadOrCreate(files(), hookTlsFile());
    }

    /** The same where it is there already. Reads a file. */
    public Optional<HookTlsIdentity> existingHookTlsIdentity() {
        return HookTlsIdentity.load(files(), hookTlsFile());
    }

    Path hookTlsFile() {
        return base.resolve("bootstrap").resolve("hook-tls-identity.json");
    }

    /** The daemon keys that this user trusts. */
    public Pins pins() {
        return new Pins(files(), daemon().resolve("pins"));
    }

    /** The user's client token. */
    public ClientTokens clientTokens() {
        return new ClientTokens(base.resolve(".client-token"), EffectiveUser.current());
    }

    /**
     * Takes the seat of this user's daemon on that port; 0 stands for any port, where there is nobody to be in the way.
     *
     * @throws RelayException LAUNCH when another daemon of the user has it
     */
    public DaemonSeat seat(int port) {
        return port == 0 ? DaemonSeat.anywhere() : DaemonSeat.take(files(), seatFile(port), port);
    }

    /** The process id of this user's daemon on that port. */
    public Optional<Long> seated(int port) {
        return DaemonSeat.holder(files(), seatFile(port));
    }

    private Path seatFile(int port) {
        return daemon().resolve("port-" + port + ".lock");
    }

    /**
     * The worker generations of this user's daemon on that port. Those of the user's first daemon are in the file that the stock
     * program has, too; another daemon of the user, on another port, has one of its own, so that neither takes the other's
     * records for its own. Reads files; a corrupt one is a failure.
     */
    public GenerationFile generations(int port) {
        return generations(port, files());
    }

    /** The same, by those rules. */
    public GenerationFile generations(int port, PrivateFiles files) {
        Path first = daemon().resolve("first-daemon.port");
        String ours = port + "\n";
        files.folder(daemon());
        try (PrivateFiles.Lock lock = files.lock(first)) {
            Optional<String> owner =
                    files.read(first, MAX_PORT_BYTES).map(content -> new String(content, StandardCharsets.ISO_8859_1));
            // Earlier versions wrote no end of line, without which another port may be what is left of this one.
            boolean older = owner.isPresent() && owner.get().equals(Integer.toString(port));
            if (!older) {
                owner.ifPresent(content -> checkPort(first, content));
            }
            String suffix = owner.isEmpty() || older || owner.get().equals(ours) ? "" : "-" + port;
            GenerationFile generations = new GenerationFile(
                    files,
                    daemon().resolve("active-worker-generations" + suffix + ".json"),
                    daemon().resolve("draining-workers" + suffix + ".json"));
            if ((owner.isEmpty() || older) && port != 0) {
                files.write(first, ours.getBytes(StandardCharsets.US_ASCII));
            }
            return generations;
        }
    }

    /** A damaged file would make this daemon take itself for the account's second one, which has other records. */
    private static void checkPort(Path file, String content) {
        try {
            int port = content.endsWith("\n") ? Integer.parseInt(content.substring(0, content.length() - 1)) : 0;
            if (port >= 1 && port <= MAX_PORT && content.equals(port + "\n")) {
                return;
            }
        } catch (NumberFormatException e) {
            // told below
        }
        throw new RelayException(
                FailureKind.STATE,
                file + " is not a valid port file (it must hold a number from 1 to " + MAX_PORT
                        + ", the end of the line and nothing else); remove it: the next daemon to start has the account's"
                        + " record of workers");
    }

    /** The rules for files of this user. */
    public PrivateFiles files() {
        return new PrivateFiles(EffectiveUser.current()).telling(notices);
    }
}
