package org.nemorelay.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.PublicRoute;
import org.nemorelay.protocol.PublicRoutes;
import org.nemorelay.protocol.RelayException;

/** Provider, URL and credentials of a request (relay-daemon 6.2, edges 57 and 109). */
final class UpstreamsTest {
    private static final PublicRoute.Provider RESPONSES = provider("/v1/responses");
    private static final PublicRoute.Provider MESSAGES = provider("/v1/messages");

    private static PublicRoute.Provider provider(String path) {
        return (PublicRoute.Provider) PublicRoutes.find(path).orElseThrow();
    }

    private static Upstreams upstreams(String openai, String anthropic, Map<String, String> environment) {
        return new Upstreams(new Upstreams.Settings(openai, "", anthropic, "", ""), environment);
    }

    private static HttpFields headers(String... namesAndValues) {
        HttpFields.Mutable fields = HttpFields.build();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            fields.add(namesAndValues[i], namesAndValues[i + 1]);
        }
        return fields;
    }

    private static String url(Upstreams.Target target) {
        return target.origin() + target.target();
    }

    private static List<String> sent(Upstreams.Target target, HttpFields headers) {
        HttpFields.Mutable fields = HttpFields.build(headers);
        target.headers().apply(fields);
        return fields.stream().map(HttpField::toString).toList();
    }

    @Test
    void case109OpenAisVersionStandsOnce() {
        for (String base : List.of("http://h:1/v1", "http://h:1/v1//", "http://h:1", "http://h:1/")) {
            Upstreams upstreams = upstreams(base, "", Map.of());
            for (String path : List.of("/responses?a=/b", "/v1/responses?a=/b", "/backend-api/codex/responses?a=/b")) {
                assertEquals(
                        "http://h:1/v1/responses?a=/b",
                        url(upstreams.resolve(RESPONSES, path, HttpFields.EMPTY, false)),
                        base + " " + path);
            }
        }
        assertEquals(
                "https://h:443/a/v1/chat/completions",
                url(upstreams("https://H/a", "", Map.of())
                        .resolve(provider("/chat/completions"), "/chat/completions", HttpFields.EMPTY, false)));
    }

    @Test
    void anthropicsPathIsKept() {
        assertEquals(
                "http://h:80/pfx/v1/messages?beta=true",
                url(upstreams("", "http://h/pfx/", Map.of())
                        .resolve(MESSAGES, "/v1/messages?beta=true", HttpFields.EMPTY, false)));
    }

    @Test
    void defaultsAreTheProvidersOwn() {
        Upstreams upstreams = upstreams("", "", Map.of());
        assertEquals(
                "https://api.openai.com:443/v1/responses",
                url(upstreams.resolve(RESPONSES, "/responses", HttpFields.EMPTY, false)));
        assertEquals(
                "https://api.anthropic.com:443/v1/messages",
                url(upstreams.resolve(MESSAGES, "/v1/messages", HttpFields.EMPTY, false)));
    }

    @Test
    void credentialsAreLentOnlyWhereTheCallerHasNone() {
        Upstreams upstreams = upstreams("", "", Map.of("OPENAI_API_KEY", " ok ", "ANTHROPIC_API_KEY", "ak"));
        assertEquals(
                List.of("Authorization: Bearer ok"),
                sent(upstreams.resolve(RESPONSES, "/responses", HttpFields.EMPTY, true), HttpFields.EMPTY));
        assertEquals(
                List.of("x-api-key: ak"),
                sent(upstreams.resolve(MESSAGES, "/v1/messages", HttpFields.EMPTY, true), HttpFields.EMPTY));
        assertEquals(
                List.of(),
                sent(upstreams.resolve(MESSAGES, "/v1/messages", HttpFields.EMPTY, false), HttpFields.EMPTY));
        for (String name : List.of("authorization", "x-api-key", "api-key", "anthropic-api-key")) {
            HttpFields own = headers(name, "mine");
            assertEquals(
                    1,
                    sent(upstreams.resolve(RESPONSES, "/responses", own, true), own)
                            .size(),
                    name);
        }
    }

    @Test
    void configuredHeaderBeatsTheEnvironment() {
        Upstreams upstreams = new Upstreams(
                new Upstreams.Settings("", "Bearer configured", "", "", ""), Map.of("OPENAI_API_KEY", "k"));
        assertEquals(
                List.of("Authorization: Bearer configured"),
                sent(upstreams.resolve(RESPONSES, "/responses", HttpFields.EMPTY, true), HttpFields.EMPTY));
    }

    @Test
    void codexWithAChatGptLoginGoesToChatGptUnlessAKeyIsLent() {
        String codex = "/backend-api/codex/responses";
        PublicRoute.Provider route = provider(codex);
        Upstreams upstreams = upstreams("https://api.openai.com/v1/", "", Map.of("OPENAI_API_KEY", "k"));
        for (String token : List.of("eyJabc", "at-abc")) {
            HttpFields login = headers("Authorization", "Bearer " + token);
            Upstreams.Target chatgpt = upstreams.resolve(route, codex + "?q", login, false);
            assertEquals("https://chatgpt.com:443/backend-api/codex/responses?q", url(chatgpt));
            assertEquals(List.of("Authorization: Bearer " + token), sent(chatgpt, login));
            Upstreams.Target lent = upstreams.resolve(route, codex, login, true);
            assertEquals("https://api.openai.com:443/v1/responses", url(lent));
            assertEquals(List.of("Authorization: Bearer " + token), sent(lent, login), "the caller's own stays");
            assertEquals(
                    "https://api.openai.com:443/v1/responses",
                    url(upstreams.resolve(RESPONSES, "/v1/responses", login, false)));
        }
        for (String other : List.of("Bearer sk-x", "bearer eyJabc", "Basic eyJabc", "Bearer  eyJabc")) {
            assertEquals(
                    "https://api.openai.com:443/v1/responses",
                    url(upstreams.resolve(route, codex, headers("Authorization", other), false)),
                    other);
        }
    }

    /** Bearer tokens of many gateways look like those of ChatGPT. */
    @Test
    void noLoginGoesPastAConfiguredProvider() {
        HttpFields token = headers("Authorization", "Bearer eyJabc");
        Upstreams upstreams = upstreams("https://gateway.example/v1", "", Map.of());
        for (String path : List.of("/backend-api/codex/responses", "/v1/responses", "/v1/chat/completions")) {
            Upstreams.Target target = upstreams.resolve(provider(path), path, token, false);
            assertTrue(url(target).startsWith("https://gateway.example:443/v1/"), url(target));
            assertEquals(List.of("Authorization: Bearer eyJabc"), sent(target, token));
        }
    }

    @Test
    void noKeyIsLentForACatalog() {
        Upstreams upstreams = new Upstreams(
                new Upstreams.Settings("", "Bearer configured", "", "", ""), Map.of("OPENAI_API_KEY", "k"));
        for (String path : List.of("/models", "/v1/models")) {
            assertEquals(
                    List.of(), sent(upstreams.resolve(provider(path), path, HttpFields.EMPTY, true), HttpFields.EMPTY));
        }
    }

    @Test
    void namedUpstreams() {
        Upstreams upstreams = upstreams("", "", Map.of());
        HttpFields own = headers("x-api-key", "k");
        assertEquals(
                "http://127.0.0.1:1/pfx/v1/v1/messages",
                url(upstreams.named("http://127.0.0.1:1/pfx/v1/", "/v1/messages", own)));
        for (String path : List.of("/v1/responses?q", "/responses", "/backend-api/codex/responses")) {
            assertEquals(
                    "https://example.com:443/v1" + path, url(upstreams.named("https://example.com/v1", path, own)));
        }
        for (String bad :
                List.of("", " ", "nope", "ftp://h", "http://h", "https://u@h", "https://h?q", "https://h#f")) {
            assertThrows(RelayException.class, () -> upstreams.named(bad, "/v1/messages", own), bad);
        }
        assertThrows(
                RelayException.class, () -> upstreams.named("https://example.com", "/v1/messages", HttpFields.EMPTY));
    }

    @Test
    void aBadBaseIsRefusedAtTheStart() {
        assertThrows(RelayException.class, () -> upstreams("nope", "", Map.of()));
    }
}
