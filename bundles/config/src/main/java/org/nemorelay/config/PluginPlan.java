package org.nemorelay.config;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.osgi.annotation.versioning.ProviderType;

/** The enabled {@code [[components]]} of plugins.toml, in file order (plugins 2.1). A service of the worker; immutable. */
@ProviderType
public interface PluginPlan {
    /** Where something stands in a file; lines and columns from 1. */
    record Position(String file, int line, int column) {
        /** {@code file:line:column}. */
        @Override
        public String toString() {
            return file + ":" + line + ":" + column;
        }
    }

    /**
     * One component.
     *
     * @param required what the file says; empty where it leaves the choice to the kind's default
     * @param sha256 the only digest that the bundle's file may have, in lower-case hexadecimal digits
     */
    record Component(String kind, Optional<Boolean> required, Optional<String> sha256, Position position) {}

    /**
     * Service property: why the files as they are now are not in force, in one line; absent while they are. The plan is the one
     * before, or, when a worker starts, one with {@link #problems}.
     */
    String REJECTED = "nemorelay.configuration.rejected";

    /** Service property beside {@link #REJECTED}: the file that the line is about. */
    String REJECTED_FILE = "nemorelay.configuration.rejected.file";

    List<Component> components();

    /** One line for each mistake in the worker's files, the place first; a worker takes no plan that has any. */
    default List<String> problems() {
        return List.of();
    }

    /** One line for each thing in these files that is tolerated yet has no effect. */
    default List<String> notes() {
        return List.of();
    }

    /**
     * The component's {@code config} as Configuration Admin gets it: flattened with dots, arrays of tables numbered. It may
     * hold secrets.
     *
     * @return empty for a kind that is not planned
     */
    Map<String, Object> configuration(String kind);

    /**
     * Where the component's {@code sha256} stands; the component itself where it has none.
     *
     * @return empty for a kind that is not planned
     */
    default Optional<Position> pin(String kind) {
        return components().stream()
                .filter(component -> component.kind().equals(kind))
                .map(Component::position)
                .findFirst();
    }

    /**
     * Where a value stands.
     *
     * @param key dotted key inside the component's {@code config}, such as {@code atof.sinks.0.type}; "" is the
     *     component itself. A key that is absent has the position of the nearest table that holds it.
     * @return empty for a kind that is not planned
     */
    Optional<Position> position(String kind, String key);
}
