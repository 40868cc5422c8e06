package org.nemorelay.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A private {@code /etc/nemo-relay} for one process and what it starts. In a mount namespace of its own an empty file
 * system covers {@code /etc}; links lead to the entries of the real one, so nothing is ever created on the host.
 */
public final class SystemFolder {
    private static final String MOUNT = """
            set -e
            mount --rbind /etc "$1/host"
            mount -t tmpfs -o mode=0755 tmpfs /etc
            ln -s "$1"/host/* /etc/
            rm -f /etc/nemo-relay
            cp -r "$1/etc" /etc/nemo-relay
            shift
            exec "$@"
            """;

    private final Path work;

    private SystemFolder(Path work) {
        this.work = work;
    }

    /** Prepares the files; {@code work} is a new folder for them. Needs root and the right to make namespaces. */
    public static SystemFolder create(Path work, String configToml, String pluginsToml) {
        Requirement.root("for a private mount namespace, as the stock worker obeys /etc/nemo-relay alone");
        try {
            Files.createDirectories(work.resolve("host"));
            Path etc = Files.createDirectories(work.resolve("etc"));
            Distribution.write(etc.resolve("config.toml"), configToml);
            Distribution.write(etc.resolve("plugins.toml"), pluginsToml);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        SystemFolder folder = new SystemFolder(work);
        Proc.Result probe = folder.around(Proc.spec().command("test", "-f", "/etc/nemo-relay/config.toml"))
                .run(java.time.Duration.ofSeconds(10));
        Requirement.of(
                probe.exit() == 0,
                "no private mount namespace: " + probe.stderr().strip());
        return folder;
    }

    public Proc.Spec around(Proc.Spec spec) {
        return spec.under(List.of("unshare", "-m", "--", "sh", "-c", MOUNT, "sh", work.toString()));
    }
}
