package org.nemorelay.protocol;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.protocol.PublicRoute.Family;

/** The paths that daemon and worker share, and what becomes of them upstream (relay-daemon 2, 6.2). Stateless. */
public final class PublicRoutes {
    private static final String CODEX_RESPONSES = "/backend-api/codex/responses";
    private static final String VERSION = "/v1";

    private static final List<PublicRoute> ALL = List.of(
            responses("/responses"),
            responses("/v1/responses"),
            responses(CODEX_RESPONSES),
            post("/chat/completions", Family.OPENAI),
            post("/v1/chat/completions", Family.OPENAI),
            post("/v1/images/generations", Family.OPENAI),
            catalog("/models"),
            catalog("/v1/models"),
            post("/v1/messages", Family.ANTHROPIC),
            post("/v1/messages/count_tokens", Family.ANTHROPIC),
            new PublicRoute.Hook(HookAgent.CODEX),
            new PublicRoute.Hook(HookAgent.CLAUDE_CODE),
            new PublicRoute.Hook(HookAgent.PI));
    private static final Map<String, PublicRoute> BY_PATH = byPath();

    private PublicRoutes() {}

    public static List<PublicRoute> all() {
        return ALL;
    }

    /** The route of exactly this path, without query. */
    public static Optional<PublicRoute> find(String path) {
        return Optional.ofNullable(BY_PATH.get(path));
    }

    /**
     * Where a provider request goes: the base without trailing slashes, then the path with its query. For the OpenAI
     * family Codex's own path becomes {@code /responses}, and {@code /v1} stands exactly once, written by base, path or
     * neither; for the Anthropic family the path is kept as it is.
     */
    public static String upstreamUrl(String baseUrl, String pathAndQuery, Family family) {
        int baseEnd = baseUrl.length();
        while (baseEnd > 0 && baseUrl.charAt(baseEnd - 1) == '/') {
            baseEnd--;
        }
        String base = baseUrl.substring(0, baseEnd);
        if (family == Family.ANTHROPIC) {
            return base + pathAndQuery;
        }
        String target = pathAndQuery;
        if (startsWithPath(target, CODEX_RESPONSES)) {
            target = "/responses" + target.substring(CODEX_RESPONSES.length());
        }
        boolean versioned = target.startsWith(VERSION + "/");
        if (base.endsWith(VERSION)) {
            return base + (versioned ? target.substring(VERSION.length()) : target);
        }
        return base + (versioned ? target : VERSION + target);
    }

    private static boolean startsWithPath(String target, String path) {
        return target.startsWith(path) && (target.length() == path.length() || target.charAt(path.length()) == '?');
    }

    private static PublicRoute responses(String path) {
        return new PublicRoute.Provider(path, "POST", Family.OPENAI, true, false);
    }

    private static PublicRoute post(String path, Family family) {
        return new PublicRoute.Provider(path, "POST", family, false, false);
    }

    private static PublicRoute catalog(String path) {
        return new PublicRoute.Provider(path, "GET", Family.OPENAI, false, true);
    }

    private static Map<String, PublicRoute> byPath() {
        Map<String, PublicRoute> routes = new HashMap<>();
        for (PublicRoute route : ALL) {
            routes.put(route.path(), route);
        }
        return Map.copyOf(routes);
    }
}
