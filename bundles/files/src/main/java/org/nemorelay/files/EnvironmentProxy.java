package org.nemorelay.files;

import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The HTTP proxy that the environment names, for connections that dial an address. A dialer that routes by node must never
 * be handed the proxy's address instead of the node's.
 *
 * @param address {@code host:port}
 * @param exceptions hosts, and {@code .domains}, that are reached without it; {@code *} for all
 */
public record EnvironmentProxy(String address, List<String> exceptions) {
    /** From {@code HTTP_PROXY} or {@code http_proxy}, and {@code NO_PROXY} or {@code no_proxy}; empty when none is named. */
    public static Optional<EnvironmentProxy> of(Map<String, String> environment) {
        String url = either(environment, "HTTP_PROXY");
        if (url.isEmpty()) {
            return Optional.empty();
        }
        URI uri = URI.create(url.contains("://") ? url : "http://" + url);
        return Optional.of(new EnvironmentProxy(
                uri.getHost() + ":" + (uri.getPort() < 0 ? 80 : uri.getPort()),
                List.of(either(environment, "NO_PROXY").toLowerCase(Locale.ROOT).split("\\s*,\\s*"))));
    }

    private static String either(Map<String, String> environment, String name) {
        String lower = environment.getOrDefault(name.toLowerCase(Locale.ROOT), "");
        return lower.isEmpty() ? environment.getOrDefault(name, "") : lower;
    }

    /** Whether requests to {@code host:port} go through it; loopback addresses never do. */
    boolean appliesTo(String target) {
        int colon = target.lastIndexOf(':');
        String host = (colon < 0 ? target : target.substring(0, colon)).toLowerCase(Locale.ROOT);
        if (host.equals("localhost") || host.startsWith("127.") || host.equals("[::1]")) {
            return false;
        }
        return exceptions.stream()
                .noneMatch(exception -> exception.equals("*")
                        || !exception.isEmpty()
                                && (host.equals(exception)
                                        || host.endsWith(exception.startsWith(".") ? exception : "." + exception)));
    }
}
