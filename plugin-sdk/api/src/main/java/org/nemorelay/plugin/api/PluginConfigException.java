package org.nemorelay.plugin.api;

/** A value in a component's {@code config} that the plugin cannot use. Thrown from activation, it reaches the administrator with file and line. */
public final class PluginConfigException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String key;

    /**
     * @param key the dotted path below {@code config}, such as {@code atof.sinks.0.type}
     * @param message what is wrong and what to write instead, one line, never a secret
     */
    public PluginConfigException(String key, String message) {
        super(key + ": " + message);
        this.key = key;
    }

    public String key() {
        return key;
    }
}
