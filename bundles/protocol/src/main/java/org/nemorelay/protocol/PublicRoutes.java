package org.nemorelay.protocol;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.protocol.PublicRoute.Family;

/** The paths that daemon and worker share (relay-daemon 2). Stateless. */
public final class PublicRoutes {

    private static final List<PublicRoute> ALL = List.of(
            responses("/responses"),
            responses("/v1/responses"),
            responses("/backend-api/codex/responses"),
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
