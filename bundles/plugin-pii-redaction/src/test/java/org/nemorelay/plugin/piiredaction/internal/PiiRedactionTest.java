package org.nemorelay.plugin.piiredaction.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.plugin.api.PluginConfigException;
import org.nemorelay.plugin.testkit.PluginRig;

/** What is recorded, with the recordings of the stock program where these hide the whole secret. */
class PiiRedactionTest {
    private static PiiRedaction plugin(Object... keysAndValues) {
        Map<String, Object> config = new HashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            config.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return new PiiRedaction(config);
    }

    private static Event mark(Object data) {
        return event("mark", null, data);
    }

    private static Event event(String kind, String category, Object data) {
        Map<String, Object> envelope = new HashMap<>();
        envelope.put("kind", kind.equals("mark") ? "mark" : "scope");
        envelope.put("atof_version", "0.1");
        envelope.put("uuid", "0199a000-0000-7000-8000-000000000001");
        envelope.put("timestamp", "2026-11-30T00:00:00+00:00");
        envelope.put("name", "n");
        envelope.put("data", data);
        envelope.put("category", category);
        envelope.put("metadata", Map.of("session_id", "0199a000-0000-7000-8000-000000000002", "note", "a@b.example"));
        if (!kind.equals("mark")) {
            envelope.put("scope_category", kind);
            envelope.put("attributes", List.of());
        }
        return Event.of(envelope);
    }

    private static String recorded(PiiRedaction plugin, String text) {
        try (PluginRig rig = PluginRig.of(plugin)) {
            return (String)
                    ((Map<?, ?>) rig.record(mark(Map.of("text", text))).data().orElseThrow()).get("text");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "email|write to jane.doe+x@example.co.uk now|write to [REDACTED] now",
                "email|<a@b-c.example>, x@y|<[REDACTED]>, x@y",
                "email|an jö.smith@example.com, jo\u0308@exämple.de, иван@пример.рф|an [REDACTED], [REDACTED], [REDACTED]",
                "email|'o'neil@example.com' or \"jane doe\"@example.com or joe@[192.0.2.1]|'[REDACTED]' or [REDACTED] or [REDACTED]",
                "email|{\"a\":\"j\\u00f6.smith@example.com\"} \\\\u00f6@ex\\u00e4mple.de|{\"a\":\"[REDACTED]\"} [REDACTED]",
                "phone|14155550134 is a number, +14155550134 is not|14155550134 is a number, [REDACTED] is not",
                "api_key|api_key=abcdefgh$ecret!rest, x|api_key=[REDACTED], x",
                "phone|call +1 (415) 555-0132 or 415-555-0199|call [REDACTED] or [REDACTED]",
                "phone|+49 30 901820 and +14155550132, not 2026-11-30|[REDACTED] and [REDACTED], not 2026-11-30",
                "api_key|key sk-abcdEFGH1234567890abcdEFGH1234567890 and api_key=ABCD1234EFGH5678IJKL|key [REDACTED] and api_key=[REDACTED]",
                "api_key|sk-ant-api03-abcdefghijklmnop1234_x-y and \"OPENAI_API_KEY\": \"abcdefgh12345678\"|[REDACTED] and \"OPENAI_API_KEY\": \"[REDACTED]\"",
                "api_key|sk-proj-ab_cd-efgh1234567890ABCDEF_x-y- sk-learn-is-a-library_of-python|[REDACTED] sk-learn-is-a-library_of-python",
                "api_key|{\"cmd\":\"x\\nsk-abcdEFGH1234567890abcd '{\\\"openaiApiKey\\\": \\\"abcdefgh1234\\\"}'\"}|{\"cmd\":\"x\\n[REDACTED] '{\\\"openaiApiKey\\\": \\\"[REDACTED]\\\"}'\"}",
                "ip_address|a\\n192.0.2.1\\u000a192.0.2.2|a\\n[REDACTED]\\u000a[REDACTED]",
                "ip_address|at 192.0.2.17, and 999.1.1.1 and 1.2.3.4.5|at [REDACTED], and 999.1.1.1 and 1.2.3.4.5",
                "ipv6|at 2001:db8::8a2e:370:7334 ok|at [REDACTED] ok",
                "ipv6|::1, fe80::1: and ::ffff:192.0.2.1. at 12:30|[REDACTED], [REDACTED]: and [REDACTED]. at 12:30",
                "ipv6|aa:bb:cc:dd:ee:ff is a MAC, fe80::1%eth0 and 2001:db8::1.Every|aa:bb:cc:dd:ee:ff is a MAC, [REDACTED] and [REDACTED].Every",
                "url|\\\"https://u:p@x.example/a\\\"|\\\"[REDACTED]\\\"",
                "url|see https://user:pw@example.com/a?b=c#d end (http://x.example/).|see [REDACTED] end ([REDACTED]).",
                "uuid|id 123e4567-e89b-12d3-a456-426614174000|id [REDACTED]",
                "bearer_token|Authorization: Bearer abc.def-123_456==|Authorization: [REDACTED]",
                "jwt|tok eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlMTIz|tok [REDACTED]",
                "credit_card|pay 4111 1111 1111 1111 or 4111111111111112|pay [REDACTED] or 4111111111111112",
                "credit_card|no 12 4111-1111-1111-1111 5555555555554444|no 12 [REDACTED] [REDACTED]",
                "credit_card|4111 1111 1111 1111 2nd, 4111111111111111x|[REDACTED] 2nd, 4111111111111111x",
                "aws_access_key_id|AKIAIOSFODNN7EXAMPLE|[REDACTED]",
                "aws_secret_access_key|aws_secret_access_key=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY|aws_secret_access_key=[REDACTED]",
                "aws_secret_access_key|\"SecretAccessKey\": \"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\"|\"SecretAccessKey\": \"[REDACTED]\"",
                "gcp_api_key|AIzaSyA1234567890abcdefghijklmnopqrstuvw|[REDACTED]",
                "azure_storage_account_key|AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==|AccountKey=[REDACTED]"
            })
    void eachDetectorHidesTheWholeSecret(String detector, String text, String wanted) {
        assertEquals(wanted, recorded(plugin("builtin.action", "redact", "builtin.detector", detector), text));
    }

    @Test
    void actions() {
        String mail = "write to jane.doe+x@example.co.uk now";
        assertEquals(
                "write to j*********@example.co.uk now",
                recorded(plugin("builtin.action", "mask", "builtin.detector", "email"), mail));
        assertEquals(
                "write to a3a8ef3c52cc333d4c064b9e1aab495d3c81664fd847ba7aca5d5275a7d6c414 now",
                recorded(plugin("builtin.action", "hash", "builtin.detector", "email"), mail));
        assertEquals(
                "write to <jane>.doe+x@example.co.uk now",
                recorded(
                        plugin(
                                "builtin.action",
                                "regex_replace",
                                "builtin.pattern",
                                "j[a-z]+",
                                "builtin.replacement",
                                "<$0>"),
                        mail));
        assertEquals(
                "pay ***************1111",
                recorded(
                        plugin(
                                "builtin.action",
                                "mask",
                                "builtin.detector",
                                "credit_card",
                                "builtin.unmasked_suffix",
                                4L),
                        "pay 4111 1111 1111 1111"));
        assertEquals(
                "####",
                recorded(
                        plugin("builtin.action", "mask", "builtin.mask_char", "#", "builtin.unmasked_prefix", 9L),
                        "abcd"));
    }

    @Test
    void theNameBeforeASecretMayBeItsKeyAndACardMayBeANumber() {
        try (PluginRig rig = PluginRig.of(plugin("builtin.action", "redact", "builtin.detector", "api_key"))) {
            Map<String, Object> data =
                    Map.of("x_api_key", "abcd-1234.ef", "api_key_id", "abcd-1234", "n", 4111111111111111L);
            assertEquals(
                    Optional.of(Map.of("x_api_key", "[REDACTED]", "api_key_id", "abcd-1234", "n", 4111111111111111L)),
                    rig.record(mark(data)).data());
        }
        try (PluginRig rig = PluginRig.of(plugin("builtin.action", "redact", "builtin.detector", "credit_card"))) {
            assertEquals(
                    Optional.of(List.of("[REDACTED]", 4111111111111112L, 1.5)).toString(),
                    rig.record(mark(List.of(4111111111111111L, 4111111111111112L, new java.math.BigDecimal("1.5"))))
                            .data()
                            .toString());
        }
    }

    /** Texts over which a careless expression takes for ever, or a stack without end. */
    @ParameterizedTest
    @EnumSource
    void noTextHoldsADetectorUp(Detector detector) {
        for (String unit : List.of(
                "a_", "sk-a-", "api_key", "a.", ":", "0:", "4 ", "1-", "eyJa.", "a://", "a'", "\"a", "ö'", "\\u00f6")) {
            for (String begin : List.of("", "a@b")) {
                assertTimeoutPreemptively(
                        Duration.ofSeconds(20),
                        () -> detector.find(begin + unit.repeat(200_000 / unit.length())),
                        () -> begin + unit + unit + "...");
            }
        }
    }

    @Test
    void aPatternThatWouldTakeForEverFailsAndIsNamed() {
        String text = "a".repeat(100_000);
        for (Map.Entry<String, String> told : Map.of(
                        "a*a*a*a*a*c",
                                "the pattern a*a*a*a*a*c took more than 2000 ms over a text of 100000 characters",
                        "(a|ab)*c", "the pattern (a|ab)*c went too deep in a text of 100000 characters")
                .entrySet()) {
            try (PluginRig rig = PluginRig.of(plugin("builtin.action", "redact", "builtin.pattern", told.getKey()))) {
                Event recorded = rig.record(mark(text));
                assertTrue(recorded.data().isEmpty(), told.getKey());
                assertEquals(1, rig.log().size());
                assertTrue(
                        rig.log().getFirst().contains(told.getValue()),
                        rig.log().toString());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/choices/0/message/content"})
    void whatSpellsATextTokenByTokenIsNotRecorded(String path) {
        Object spelled = List.of(Map.of("token", "jo", "bytes", List.of(106L, 111L), "logprob", -1L));
        Object answer = Map.of(
                "choices",
                List.of(Map.of("message", Map.of("content", "jo@x.example"), "logprobs", Map.of("content", spelled))),
                "output",
                List.of(Map.of("content", List.of(Map.of("text", "y", "logprobs", spelled)))),
                "request",
                Map.of("logprobs", true, "top_logprobs", 3L));
        PiiRedaction plugin = path.isEmpty()
                ? plugin("builtin.action", "redact", "builtin.detector", "email")
                : plugin("builtin.action", "redact", "builtin.detector", "email", "builtin.target_paths", new String[] {
                    path
                });
        try (PluginRig rig = PluginRig.of(plugin)) {
            assertEquals(
                    Map.of(
                            "choices",
                            List.of(Map.of("message", Map.of("content", "[REDACTED]"), "logprobs", "[REDACTED]")),
                            "output",
                            List.of(Map.of("content", List.of(Map.of("text", "y", "logprobs", "[REDACTED]")))),
                            "request",
                            Map.of("logprobs", true, "top_logprobs", 3L)),
                    rig.record(event("end", "llm", answer)).data().orElseThrow());
        }
    }

    @Test
    void targetsAreTreatedAndNothingElse() {
        PiiRedaction removes = plugin(
                "builtin.action", "remove", "builtin.target_paths", new String[] {"/prompt", "/list/1", "/absent/x"});
        try (PluginRig rig = PluginRig.of(removes)) {
            Map<String, Object> data = Map.of("prompt", Map.of("a", 1L), "other", "x", "list", List.of("a", "b"));
            Map<?, ?> recorded = (Map<?, ?>) rig.record(mark(data)).data().orElseThrow();
            assertEquals("{list=[a, null], other=x}", recorded.toString());
        }
        PiiRedaction messages = plugin(
                "builtin.action", "redact",
                "builtin.detector", "email",
                "builtin.target_paths", new String[] {"/messages/0/content", "/headers/x-user"});
        Map<String, Object> call = Map.of(
                "headers", Map.of("x-user", "a@b.example"),
                "content",
                        Map.of(
                                "user",
                                "a@b.example",
                                "messages",
                                List.of(Map.of("role", "user", "content", "a@b.example"))));
        try (PluginRig rig = PluginRig.of(messages)) {
            assertEquals(
                    "Optional[{content={messages=[{content=[REDACTED], role=user}], user=a@b.example}, headers={x-user=[REDACTED]}}]",
                    rig.record(event("start", "llm", call)).data().toString());
        }
    }

    @Test
    void metadataIsTreatedAndKeepsWhatHoldsASessionTogether() {
        try (PluginRig rig = PluginRig.of(plugin("builtin.action", "redact", "builtin.pattern", ".+"))) {
            Event recorded = rig.record(mark("x"));
            assertEquals(
                    "{[REDACTED]=[REDACTED], session_id=0199a000-0000-7000-8000-000000000002}",
                    recorded.metadata().values().toString());
            assertEquals(Optional.of("[REDACTED]"), recorded.data());
        }
    }

    @Test
    void namesOfMembersAreTreatedAndNoMemberIsLost() {
        Map<String, Object> data = new java.util.LinkedHashMap<>();
        data.put("a@b.example", 1L);
        data.put("[REDACTED] 2", 2L);
        data.put("c@d.example", Map.of("to e@f.example", "x", "plain", "y"));
        data.put("g@h.example", 3L);
        for (String action : List.of("redact", "remove")) {
            try (PluginRig rig = PluginRig.of(plugin("builtin.action", action, "builtin.detector", "email"))) {
                Map<?, ?> recorded = (Map<?, ?>) rig.record(mark(data)).data().orElseThrow();
                String inner = action.equals("redact") ? "to [REDACTED]" : "[REDACTED]";
                assertEquals(
                        Map.of(
                                "[REDACTED]",
                                1L,
                                "[REDACTED] 2",
                                2L,
                                "[REDACTED] 3",
                                Map.of(inner, "x", "plain", "y"),
                                "[REDACTED] 4",
                                3L),
                        recorded);
            }
        }
        try (PluginRig rig = PluginRig.of(plugin("builtin.action", "redact", "builtin.pattern", "lain"))) {
            assertEquals(
                    Optional.of(Map.of("p[REDACTED]", "p[REDACTED]")),
                    rig.record(mark(Map.of("plain", "plain"))).data());
        }
        try (PluginRig rig = PluginRig.of(plugin("builtin.action", "mask"))) {
            assertEquals(
                    Optional.of(Map.of("plain", "*****")),
                    rig.record(mark(Map.of("plain", "plain"))).data());
        }
    }

    @Test
    void pathsAddressTheNamesThatWereThere() {
        PiiRedaction plugin = plugin(
                "profiles.0.builtin.action", "redact",
                "profiles.0.builtin.detector", "email",
                "profiles.1.builtin.action", "mask",
                "profiles.1.builtin.target_paths", new String[] {"/a@b.example/x"});
        try (PluginRig rig = PluginRig.of(plugin)) {
            assertEquals(
                    Optional.of(Map.of("[REDACTED]", Map.of("x", "****", "y", "open"))),
                    rig.record(mark(Map.of("a@b.example", Map.of("x", "open", "y", "open"))))
                            .data());
        }
    }

    @Test
    void theLongerFindWinsWhateverTheOrder() {
        for (List<String> order : List.of(List.of("phone", "credit_card"), List.of("credit_card", "phone"))) {
            assertEquals(
                    "x [REDACTED] y [REDACTED]",
                    recorded(
                            plugin(
                                    "profiles.0.builtin.action",
                                    "redact",
                                    "profiles.0.builtin.detector",
                                    order.getFirst(),
                                    "profiles.1.builtin.action",
                                    "redact",
                                    "profiles.1.builtin.detector",
                                    order.getLast()),
                            "x 4111 1111 1111 1111 y 415-555-0199"));
        }
        for (List<String> order : List.of(List.of("abcd", "cdefgh"), List.of("cdefgh", "abcd"))) {
            assertEquals(
                    "-<cdefgh>-",
                    recorded(
                            plugin(
                                    "profiles.0.builtin.action",
                                    "redact",
                                    "profiles.0.builtin.replacement",
                                    "<" + order.getFirst() + ">",
                                    "profiles.0.builtin.pattern",
                                    order.getFirst(),
                                    "profiles.1.builtin.action",
                                    "redact",
                                    "profiles.1.builtin.replacement",
                                    "<" + order.getLast() + ">",
                                    "profiles.1.builtin.pattern",
                                    order.getLast()),
                            "-abcdefgh-"));
        }
        assertEquals(
                "write to [REDACTED]",
                recorded(
                        plugin(
                                "profiles.0.builtin.action", "mask",
                                "profiles.0.builtin.detector", "email",
                                "profiles.1.builtin.action", "redact",
                                "profiles.1.builtin.pattern", "secret"),
                        "write to a@secret.example"));
    }

    @Test
    void surfacesAreToldApart() {
        try (PluginRig rig = PluginRig.of(
                plugin("builtin.action", "redact", "builtin.pattern", ".+", "tool_output", false, "mark", false))) {
            assertEquals(Optional.of("x"), rig.record(mark("x")).data());
            assertEquals(Optional.of("x"), rig.record(event("end", "tool", "x")).data());
            assertEquals(
                    Optional.of("[REDACTED]"),
                    rig.record(event("start", "tool", "x")).data());
            assertEquals(
                    Optional.of("[REDACTED]"),
                    rig.record(event("end", "llm", "x")).data());
        }
    }

    @Test
    void profilesRunByPriority() {
        assertEquals(
                "c",
                recorded(
                        plugin(
                                "profiles.0.priority", 2L,
                                "profiles.0.builtin.action", "regex_replace",
                                "profiles.0.builtin.pattern", "b",
                                "profiles.0.builtin.replacement", "c",
                                "profiles.1.priority", 1L,
                                "profiles.1.builtin.action", "regex_replace",
                                "profiles.1.builtin.pattern", "a",
                                "profiles.1.builtin.replacement", "b",
                                "profiles.2.enabled", false,
                                "profiles.2.builtin.action", "hash"),
                        "a"));
    }

    @Test
    void whatItCannotUseIsRefusedByName() {
        assertEquals("builtin.action: missing; write remove, redact, regex_replace, hash or mask", refusal());
        assertEquals("builtin.action: needs a detector or a pattern", refusal("builtin.action", "redact"));
        assertEquals(
                "builtin.pattern: is no regular expression: Unclosed group at character 3, correct it",
                refusal("builtin.action", "redact", "builtin.pattern", "(a"));
        assertEquals(
                "builtin.replacement: refers to a group that the pattern lacks, or ends in $ or \\; write \\$ for a dollar",
                refusal("builtin.action", "regex_replace", "builtin.pattern", "j(a)n", "builtin.replacement", "$2"));
        assertEquals(
                "builtin.action: \"explode\" is not one of remove, redact, regex_replace, hash, mask",
                refusal("builtin.action", "explode"));
        assertEquals(
                "builtin.target_paths: \"no-slash\" is no JSON pointer, it must begin with /",
                refusal("builtin.action", "redact", "builtin.detector", "email", "builtin.target_paths", new String[] {
                    "no-slash"
                }));
        assertEquals(
                "mode: local_model is not supported by this version, use \"builtin\"",
                refusal("mode", "local_model", "builtin.action", "remove"));
        assertEquals(
                "local: not supported by this version, remove the section",
                refusal("local.model", "m", "builtin.action", "remove"));
        assertEquals(
                "builtin.preset: not supported by this version, remove it",
                refusal("builtin.action", "remove", "builtin.preset", "strict"));
        assertEquals(
                "colour: unknown key; known here: version, mode, input, output, mark, tool_input, tool_output,"
                        + " priority, builtin, local, profiles, codec, policy",
                refusal("colour", "red"));
    }

    private static String refusal(Object... keysAndValues) {
        return assertThrows(PluginConfigException.class, () -> plugin(keysAndValues))
                .getMessage();
    }
}
