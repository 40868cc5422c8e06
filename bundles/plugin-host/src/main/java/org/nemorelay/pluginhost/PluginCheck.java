package org.nemorelay.pluginhost;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.nemorelay.config.PluginPlan;
import org.osgi.annotation.versioning.ProviderType;

/**
 * Tells what a worker would make of the plugins, without running any of their code: files, manifests, bytecode, imports,
 * pins, kinds and the configurations that bundles declare are judged as a worker judges them; what only a plugin itself knows
 * of its configuration is not.
 */
@ProviderType
public interface PluginCheck {
    /**
     * One plugin or file. A state of {@code IDLE} means that nothing speaks against it.
     *
     * @param symbolicName of the bundle; empty for what is none
     * @param sha256 of the file, in lower-case hexadecimal digits; empty where it was not read
     * @param planned its component of plugins.toml
     * @param required whether a worker does not do without it
     * @param declared whether its bundle says which keys its configuration has
     */
    record Finding(
            PluginStatus status,
            String symbolicName,
            String sha256,
            Optional<PluginPlan.Component> planned,
            boolean required,
            boolean declared) {}

    /** What is wrong with the worker's files, all that plugins.toml names, and all that lies in the plugin folders. */
    List<Finding> check();

    /** Jars, wherever they lie and whoever owns them, with the configuration that plugins.toml has for them. */
    List<Finding> check(List<Path> jars);

    /**
     * One value of a component's {@code config}, by dotted key.
     *
     * @param value a JSON value; {@code "[REDACTED]"} for what looks like a secret
     * @param source file, line and column
     */
    record Value(String key, Object value, String source) {}

    /** The {@code config} of a planned kind, sorted by key; empty for a kind that is not planned. */
    List<Value> configuration(String kind);

    /** What is wrong with the worker's files and keeps it from starting; one line each. */
    List<String> problems();

    /** The kinds of plugins.toml, in its order. */
    List<String> planned();
}
