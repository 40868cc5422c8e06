package org.nemorelay.http;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.PublicRoute;
import org.nemorelay.protocol.RelayException;

/**
 * Which provider a request goes to, at which URL, and whose credentials it carries (relay-daemon 6.2). Daemon and worker
 * share it, so that a request meets the same provider with and without a worker. Immutable; holds secrets, so it has no
 * text form.
 */
public final class Upstreams {
    public static final String OPENAI_BASE_URL = "https://api.openai.com/v1";
    public static final String ANTHROPIC_BASE_URL = "https://api.anthropic.com";
    public static final String CHATGPT_CODEX_BASE_URL = "https://chatgpt.com/backend-api/codex";

    private static final String CODEX_PREFIX = "/backend-api/codex";
    private static final List<String> CREDENTIALS =
            List.of("authorization", "x-api-key", "api-key", "anthropic-api-key");

    /** Values of {@code [upstream]}; an empty text stands for the default or for none. */
    public record Settings(
            String openaiBaseUrl,
            String openaiAuthHeader,
            String anthropicBaseUrl,
            String anthropicAuthHeader,
            String chatgptCodexBaseUrl) {
        @Override
        public String toString() {
            return "Settings[" + openaiBaseUrl + ", " + anthropicBaseUrl + ", " + chatgptCodexBaseUrl + "]";
        }
    }

    /**
     * Where one request goes.
     *
     * @param headers what it changes about the request's credentials
     */
    public record Target(Origin origin, String target, HeaderEdit headers) {}

    private record Base(Origin origin, String path) {
        static Base of(String url) {
            String trimmed = url;
            while (trimmed.endsWith("/")) {
                trimmed = trimmed.substring(0, trimmed.length() - 1);
            }
            Origin origin = Origin.of(trimmed);
            int path = trimmed.indexOf('/', trimmed.indexOf("://") + 3);
            return new Base(origin, path < 0 ? "" : trimmed.substring(path));
        }

        /** OpenAI's version segment stands once, whoever brought it. */
        String versioned(String pathQuery) {
            boolean given = pathQuery.startsWith("/v1/");
            if (path.endsWith("/v1")) {
                return path + (given ? pathQuery.substring(3) : pathQuery);
            }
            return path + (given ? pathQuery : "/v1" + pathQuery);
        }
    }

    private static final Base OPENAI = Base.of(OPENAI_BASE_URL);

    private final Base openai;
    private final Base anthropic;
    private final Base chatgptCodex;
    private final Optional<HttpField> openaiKey;
    private final Optional<HttpField> anthropicKey;

    /**
     * Reads the settings and, behind them, {@code OPENAI_API_KEY} and {@code ANTHROPIC_API_KEY} of the environment.
     *
     * @throws RelayException INVALID_ARGUMENT for a base URL that is no absolute http or https URL
     */
    public Upstreams(Settings settings, Map<String, String> environment) {
        openai = Base.of(orElse(settings.openaiBaseUrl(), OPENAI_BASE_URL));
        anthropic = Base.of(orElse(settings.anthropicBaseUrl(), ANTHROPIC_BASE_URL));
        chatgptCodex = Base.of(orElse(settings.chatgptCodexBaseUrl(), CHATGPT_CODEX_BASE_URL));
        openaiKey = configured(settings.openaiAuthHeader())
                .or(() -> key(environment, "OPENAI_API_KEY")
                        .map(key -> new HttpField(HttpHeader.AUTHORIZATION, "Bearer " + key)));
        anthropicKey = configured(settings.anthropicAuthHeader())
                .or(() -> key(environment, "ANTHROPIC_API_KEY").map(key -> new HttpField("x-api-key", key)));
    }

    /**
     * The target of a request. Codex with a ChatGPT login is sent to ChatGPT where OpenAI's own URL stands for its provider
     * and no key is lent: a login never goes past a base URL that was configured. What a catalog of models shows depends on
     * who asks, so no key is lent for it.
     *
     * @param pathQuery the request's own path and query
     * @param lend whether the relay's credentials may stand in where the caller sent none
     */
    public Target resolve(PublicRoute.Provider route, String pathQuery, HttpFields headers, boolean lend) {
        String path = pathQuery.startsWith(CODEX_PREFIX + "/") ? pathQuery.substring(CODEX_PREFIX.length()) : pathQuery;
        return switch (route.family()) {
            case ANTHROPIC ->
                new Target(
                        anthropic.origin(),
                        anthropic.path() + path,
                        credentials(headers, lend ? anthropicKey : Optional.empty()));
            case OPENAI -> {
                Optional<HttpField> key = lend && !route.catalog() ? openaiKey : Optional.empty();
                boolean codex = pathQuery.startsWith(CODEX_PREFIX + "/");
                if (codex && key.isEmpty() && openai.equals(OPENAI) && chatgptToken(headers)) {
                    yield new Target(chatgptCodex.origin(), chatgptCodex.path() + path, HeaderEdit.NONE);
                }
                yield new Target(openai.origin(), openai.versioned(path), credentials(headers, key));
            }
        };
    }

    /**
     * The target that the caller named in {@code x-nemo-relay-upstream-base-url}, which the whole path follows as it is; the
     * relay's credentials are never lent to it.
     *
     * @throws RelayException INVALID_PAYLOAD for a URL that the rule does not allow, or without the caller's credential
     */
    public Target named(String baseUrl, String pathQuery, HttpFields headers) {
        Base base = namedBase(baseUrl);
        if (CREDENTIALS.stream().noneMatch(headers::contains)) {
            throw refused("a client-named upstream requires a caller-supplied provider credential");
        }
        return new Target(base.origin(), base.path() + pathQuery, HeaderEdit.NONE);
    }

    private static Base namedBase(String baseUrl) {
        if (baseUrl.isBlank()) {
            throw refused("upstream base URL header is empty");
        }
        URI uri;
        try {
            uri = new URI(baseUrl.trim());
        } catch (URISyntaxException e) {
            throw refused("upstream base URL header is not an absolute URL");
        }
        boolean https = "https".equalsIgnoreCase(uri.getScheme());
        boolean http = "http".equalsIgnoreCase(uri.getScheme());
        if (uri.getHost() == null) {
            throw refused("upstream base URL header is not an absolute URL");
        }
        if (!https && !http) {
            throw refused("upstream base URL must use http or https");
        }
        if (uri.getRawUserInfo() != null) {
            throw refused("upstream base URL must not carry credentials");
        }
        if (uri.getRawQuery() != null || uri.getRawFragment() != null) {
            throw refused("upstream base URL must not carry a query string");
        }
        if (http && !loopback(uri.getHost())) {
            throw refused("upstream base URL must use https unless it is a loopback address");
        }
        return Base.of(baseUrl.trim());
    }

    private static RelayException refused(String reason) {
        return new RelayException(FailureKind.INVALID_PAYLOAD, reason);
    }

    private static HeaderEdit credentials(HttpFields headers, Optional<HttpField> key) {
        if (key.isEmpty()) {
            return HeaderEdit.NONE;
        }
        for (String name : CREDENTIALS) {
            if (headers.contains(name)) {
                return HeaderEdit.NONE;
            }
        }
        HttpField field = key.orElseThrow();
        return fields -> fields.add(field);
    }

    /** A ChatGPT login's token, which only ChatGPT's own upstream takes. */
    private static boolean chatgptToken(HttpFields headers) {
        String authorization = headers.get(HttpHeader.AUTHORIZATION);
        return authorization != null
                && (authorization.startsWith("Bearer eyJ") || authorization.startsWith("Bearer at-"));
    }

    private static boolean loopback(String host) {
        return host.equalsIgnoreCase("localhost") || host.startsWith("127.") || host.equals("[::1]");
    }

    private static Optional<HttpField> configured(String value) {
        return value.isBlank() ? Optional.empty() : Optional.of(new HttpField(HttpHeader.AUTHORIZATION, value.trim()));
    }

    private static Optional<String> key(Map<String, String> environment, String name) {
        String value = environment.getOrDefault(name, "").trim();
        return value.isEmpty() ? Optional.empty() : Optional.of(value);
    }

    private static String orElse(String value, String usual) {
        return value.isBlank() ? usual : value.trim();
    }
}
