package org.nemorelay.plugin.observability.internal;

import java.net.ConnectException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.channels.UnresolvedAddressException;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.nemorelay.plugin.api.PluginConfig;

/**
 * A server and the headers it gets, which may be secrets: no text form.
 *
 * @param timeoutMillis for one request
 */
record HttpTarget(URI uri, Map<String, String> headers, long timeoutMillis) {
    private static final long DEFAULT_TIMEOUT_MILLIS = 3000;

    /** Reads {@code headers}, {@code header_env} and {@code timeout_millis} beside the key of the address. */
    static HttpTarget of(PluginConfig config, String key, Map<String, String> environment) {
        URI uri;
        try {
            uri = new URI(config.string(key));
        } catch (URISyntaxException e) {
            throw config.failure(key, "is no URL");
        }
        String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
        if (uri.getHost() == null || !scheme.equals("http") && !scheme.equals("https")) {
            throw config.failure(key, "must be an http or https URL");
        }
        Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        PluginConfig given = config.table("headers");
        for (String name : given.keys()) {
            headers.put(name, given.string(name));
        }
        PluginConfig variables = config.table("header_env");
        for (String name : variables.keys()) {
            String value = environment.getOrDefault(variables.string(name), "");
            if (value.isBlank()) {
                throw variables.failure(name, "the variable " + variables.string(name) + " is not set");
            }
            if (headers.putIfAbsent(name, value.strip()) != null) {
                throw variables.failure(name, "is in headers too, remove one of them");
            }
        }
        return new HttpTarget(
                uri, headers, config.integer("timeout_millis", DEFAULT_TIMEOUT_MILLIS, 1, Integer.MAX_VALUE));
    }

    /** Why nothing got there, in a few words: the JDK has none for most of it. */
    static String reason(Throwable failure) {
        Throwable last = failure;
        boolean refused = false;
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof UnresolvedAddressException) {
                return "its host name is unknown";
            }
            refused |= cause instanceof ConnectException;
            last = cause;
        }
        if (refused && last.getMessage() == null) {
            return "nobody answers there";
        }
        String said = last.getMessage() == null ? "" : last.getMessage();
        return said.lines().findFirst().orElse("the connection broke off");
    }

    /** Without query, user and headers: they may be secrets. */
    @Override
    public String toString() {
        return uri.getScheme() + "://" + uri.getHost() + (uri.getPort() < 0 ? "" : ":" + uri.getPort())
                + (uri.getPath() == null ? "" : uri.getPath());
    }
}
