package org.nemorelay.protocol;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SecretsTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "authorization",
                "proxy-authorization",
                "Cookie",
                "x-api-key",
                "api-key",
                "anthropic-api-key",
                "x-goog-api-key",
                "private-token",
                "x-gitlab-token",
                "cf-access-client-secret",
                "ocp-apim-subscription-key",
                "x-amz-security-token",
                "x-auth-token",
                "x-access-token",
                "x-forwarded-access-token",
                "x-amzn-oidc-accesstoken",
                "x-vault-token",
                "x-session-token",
                "X-Client-Secret",
                "x-password",
                "x-pwd",
                "x-jwt",
                "x-goog-iap-jwt-assertion",
                "authentication",
                "x-amz-authorization",
                "cf-aig-authorization",
                "helicone-auth",
                "x-credentials",
                "x-functions-key",
                "x-apikey",
                "x_api_key",
                "set-cookie",
                "www-authenticate",
                "dpop",
                "x-key",
                "x-service-account-keys",
                "team.apiKey",
                "rules.0.secretName",
                "upstream.tokens"
            })
    void aNameTellsACredential(String name) {
        assertTrue(Secrets.isSecret(name, "abc"));
    }

    @ParameterizedTest
    @CsvSource({
        "anthropic-beta,token-counting-2024-11-01",
        "anthropic-version,2023-06-01",
        "x-session-id,s-1",
        "x-claude-code-session-id,s-1",
        "chatgpt-account-id,a",
        "max-tokens,4096",
        "x-ratelimit-remaining-tokens,149984",
        "x-request-id,1",
        "x-stainless-runtime,node",
        "user-agent,codex/1",
        "originator,codex_cli_rs",
        "author,me",
        "idempotency-key,k",
        "prompt-cache-key,k",
        "x-portkey-provider,openai",
        "monkey,k",
        "x-max-output,Basic",
        "x-link,https://h/@someone?page=2",
        "traceparent,00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    })
    void othersStay(String name, String value) {
        assertFalse(Secrets.isSecret(name, value));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Bearer abc",
                "basic YTpi",
                "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
                "https://user:word@h/",
                "http://user@h",
                "https://h/a?x=1&api_key=abc"
            })
    void aValueTellsACredential(String value) {
        assertTrue(Secrets.isSecret("x-own", value));
        assertTrue(Secrets.isSecret("own", new String[] {"a", value}));
    }

    @Test
    void whatIsNoTextIsNone() {
        assertFalse(Secrets.isSecret("max_tokens", 7L));
        assertFalse(Secrets.isSecret("token_counting", true));
    }
}
