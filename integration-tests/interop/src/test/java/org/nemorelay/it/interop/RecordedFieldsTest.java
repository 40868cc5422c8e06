package org.nemorelay.it.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Answers;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.interop.RecordedComparison.Explanation;

/**
 * One plugins.toml with {@code observability} and {@code pii_redaction}, the same traffic, both programs: the records have the
 * same fields and values. What differs stands in docs/records.md.
 */
@Timeout(180)
class RecordedFieldsTest {
    @TempDir
    Path folder;

    @Test
    void bothWriteTheSameFieldsAndValues() throws Exception {
        assertEquals(
                "",
                new RecordedComparison(folder, RecordedFieldsTest::answers, RecordedFieldsTest::traffic)
                        .differences(EnumSet.of(Explanation.ADDED_HEADERS, Explanation.TERMINAL)));
    }

    /** Three APIs, streamed and not, within sessions and alone, with what the detector looks for in every text. */
    private static void traffic(RecordedComparison.Sender sender) {
        String claude = "{\"session_id\":\"s-1\",\"cwd\":\"/w\",\"hook_event_name\":\"";
        String messages = "{\"model\":\"claude-x\",\"max_tokens\":99,\"stream\":%s,\"system\":\"be c@d.example\","
                + "\"messages\":[{\"role\":\"user\",\"content\":\"I am a@b.example\"}]}";
        String[] ofClaude = {"user-agent: claude-cli/2.1.332", "x-claude-code-session-id: s-1"};
        sender.hook("/hooks/claude-code", claude + "SessionStart\",\"source\":\"startup\"}");
        sender.hook("/hooks/claude-code", claude + "UserPromptSubmit\",\"prompt\":\"I am a@b.example\"}");
        sender.model("/v1/messages", "anthropic.messages", messages.formatted(true), ofClaude);
        String call =
                ",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"mail a@b.example\"},\"tool_use_id\":\"t1\"";
        sender.hook("/hooks/claude-code", claude + "PreToolUse\"" + call + "}");
        sender.hook(
                "/hooks/claude-code",
                claude + "PostToolUse\"" + call + ",\"tool_response\":{\"stdout\":\"to a@b.example\"}}");
        sender.model("/v1/messages", "anthropic.messages", messages.formatted(false), ofClaude);
        sender.hook("/hooks/claude-code", claude + "Stop\",\"stop_hook_active\":false}");
        sender.hook("/hooks/claude-code", claude + "SessionEnd\",\"reason\":\"other\"}");

        String codex =
                "{\"session_id\":\"s-2\",\"turn_id\":\"t1\",\"cwd\":\"/w\",\"model\":\"gpt-x\",\"hook_event_name\":\"";
        String responses =
                "{\"model\":\"gpt-x\",\"stream\":%s,\"instructions\":\"be c@d.example\",\"input\":[{\"type\":"
                        + "\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"I am a@b.example\"}]}],"
                        + "\"prompt_cache_key\":\"s-2\"}";
        String[] ofCodex = {"user-agent: codex_cli_rs/0.171.0", "session_id: s-2"};
        sender.hook("/hooks/codex", codex + "SessionStart\",\"source\":\"startup\"}");
        sender.hook("/hooks/codex", codex + "UserPromptSubmit\",\"prompt\":\"I am a@b.example\"}");
        sender.model("/v1/responses", "openai.responses", responses.formatted(true), ofCodex);
        sender.hook("/hooks/codex", codex + "PreToolUse\"" + call + "}");
        sender.hook("/hooks/codex", codex + "PostToolUse\"" + call + ",\"tool_response\":\"to a@b.example\"}");
        sender.model("/v1/responses", "openai.responses", responses.formatted(false), ofCodex);
        sender.hook(
                "/hooks/codex",
                codex + "Stop\",\"stop_hook_active\":false,\"last_assistant_message\":\"to a@b.example\"}");

        String chat =
                "{\"model\":\"gpt-y\",\"stream\":%s,\"messages\":[{\"role\":\"system\",\"content\":\"be c@d.example\"},"
                        + "{\"role\":\"user\",\"content\":\"I am a@b.example\"}]}";
        sender.model("/v1/chat/completions", "openai.chat_completions", chat.formatted(true));
        sender.model("/v1/chat/completions", "openai.chat_completions", chat.formatted(false));
    }

    private static void answers(MockProvider provider) {
        provider.respond(
                "/v1/messages",
                either(
                        List.of(
                                "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":11,\"output_tokens\":1}}}\n\n",
                                "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
                                "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"ask a@b.\"}}\n\n",
                                "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"example\"}}\n\n",
                                "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
                                "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":{}}}\n\n",
                                "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"command\\\":\\\"mail a@b.example\\\"}\"}}\n\n",
                                "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
                                "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":7}}\n\n",
                                "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"),
                        "{\"id\":\"msg_2\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[{\"type\":\"text\",\"text\":\"ask a@b.example\"},{\"type\":\"text\",\"text\":\"more\"}],\"stop_reason\":\"stop_sequence\",\"stop_sequence\":\"a@b.example\",\"stop_details\":null,\"usage\":{\"input_tokens\":5,\"output_tokens\":2,\"cache_read_input_tokens\":3}}"));
        String output =
                "[{\"type\":\"message\",\"id\":\"m1\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"ask a@b.example\"}]},{\"type\":\"function_call\",\"id\":\"fc1\",\"call_id\":\"t1\",\"name\":\"shell\",\"arguments\":\"{\\\"cmd\\\":\\\"mail a@b.example\\\"}\"}]";
        String response =
                "{\"id\":\"resp_1\",\"object\":\"response\",\"model\":\"gpt-x\",\"status\":\"completed\",\"output\":"
                        + output
                        + ",\"created_at\":5,\"error\":null,\"instructions\":\"be c@d.example\",\"metadata\":{\"who\":\"a@b.example\"},\"reasoning\":{\"effort\":\"high\"},\"store\":false,\"tools\":[],\"usage\":{\"input_tokens\":12,\"output_tokens\":4,\"total_tokens\":16,\"input_tokens_details\":{\"cached_tokens\":2}}}";
        provider.respond(
                "/v1/responses",
                either(
                        List.of(
                                "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"model\":\"gpt-x\",\"status\":\"in_progress\",\"output\":[],\"usage\":null}}\n\n",
                                "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"m1\",\"output_index\":0,\"content_index\":0,\"delta\":\"ask a@b.example\"}\n\n",
                                "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":"
                                        + response + "}\n\n"),
                        response));
        provider.respond(
                "/v1/chat/completions",
                either(
                        List.of(
                                "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":5,\"model\":\"gpt-y\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"ask a@b.\"},\"finish_reason\":null}]}\n\n",
                                "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":5,\"model\":\"gpt-y\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"example\"},\"finish_reason\":\"stop\"}]}\n\n",
                                "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":5,\"model\":\"gpt-y\",\"choices\":[],\"usage\":{\"prompt_tokens\":8,\"completion_tokens\":2,\"total_tokens\":10}}\n\n",
                                "data: [DONE]\n\n"),
                        "{\"id\":\"c2\",\"object\":\"chat.completion\",\"created\":5,\"system_fingerprint\":\"f\",\"service_tier\":\"default\",\"model\":\"gpt-y\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"ask a@b.example\",\"tool_calls\":[{\"id\":\"t9\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"to\\\":\\\"a@b.example\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1,\"total_tokens\":4}}"));
    }

    private static MockProvider.Responder either(List<String> stream, String whole) {
        return (request, reply) -> {
            if (request.bodyText().contains("\"stream\":true")) {
                Answers.stream(reply, stream);
            } else {
                reply.sized(200, "application/json", whole);
            }
        };
    }
}
