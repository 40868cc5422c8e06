package org.nemorelay.it.interop;

import java.nio.file.Path;
import java.util.function.UnaryOperator;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.ExternalTool;
import org.nemorelay.it.Proc;
import org.nemorelay.it.SystemFolder;

/** Whose program plays a part. */
enum Maker {
    OURS,
    STOCK;

    /**
     * A program with the system configuration of the workers that it starts.
     *
     * @param around puts that configuration in place for a process
     */
    record Program(Path executable, UnaryOperator<Proc.Spec> around) {}

    Path executable() {
        return switch (this) {
            case OURS -> Distribution.tree().resolve("bin/nemo-relay");
            case STOCK -> ExternalTool.STOCK.require();
        };
    }

    Program configured(Path folder, String configToml, String pluginsToml) {
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
