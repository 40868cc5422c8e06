package org.nemorelay.it;

import java.nio.file.Path;
import java.util.function.UnaryOperator;

/** Whose program plays a part. */
public enum Maker {
    OURS,
    STOCK;

    /**
     * A program with the system configuration of the workers that it starts.
     *
     * @param around puts that configuration in place for a process
     */
    public record Program(Path executable, UnaryOperator<Proc.Spec> around) {}

    public Path executable() {
        return switch (this) {
            case OURS -> Distribution.tree().resolve("bin/nemo-relay");
            case STOCK -> ExternalTool.STOCK.require();
        };
    }

    /** A program whose workers have this system configuration; {@code folder} is a new one for it. */
    public Program configured(Path folder, String configToml, String pluginsToml) {
        return switch (this) {
            case OURS ->
                new Program(
                        Distribution.privateTree(folder, configToml, pluginsToml)
                                .resolve("bin/nemo-relay"),
                        UnaryOperator.identity());
            case STOCK -> new Program(executable(), SystemFolder.create(folder, configToml, pluginsToml)::around);
        };
    }
}
