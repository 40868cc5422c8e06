package org.nemorelay.it.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Answers;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Reply;
import org.nemorelay.it.interop.RecordedComparison.Explanation;

/**
 * The records of what goes wrong or is rare are the stock program's too: errors of the provider, streams that break off,
 * compressed answers, sub-agents, compaction, failed tools, turns that are superseded, Pi's hooks.
 */
@Timeout(180)
class RecordedExceptionsTest {
    @TempDir
    Path folder;

    @Test
    void bothWriteTheSameFieldsAndValues() throws Exception {
        assertEquals(
                "",
                new RecordedComparison(folder, RecordedExceptionsTest::answers, RecordedExceptionsTest::traffic)
                        .differences(EnumSet.allOf(Explanation.class)));
    }

    private static void traffic(RecordedComparison.Sender sender) {
        claude(sender);
        claudeLate(sender);
        codex(sender);
        pi(sender);
        alone(sender);
    }

    /** A sub-agent, tools that fail, compaction, events without a scope, and a turn that the next prompt ends. */
    private static void claude(RecordedComparison.Sender sender) {
        String event = "{\"session_id\":\"s-1\",\"cwd\":\"/w\",\"hook_event_name\":\"";
        String hooks = "/hooks/claude-code";
        String[] ofSession = {"user-agent: claude-cli/2.1.332", "x-claude-code-session-id: s-1"};
        sender.hook(hooks, event + "SessionStart\",\"source\":\"startup\"}");
        sender.hook(hooks, event + "UserPromptSubmit\",\"prompt\":\"I am a@b.example\"}");
        sender.model("/v1/messages", "anthropic.messages", messages("ok", true), ofSession);
        String agent =
                ",\"tool_name\":\"Agent\",\"tool_input\":{\"prompt\":\"mail a@b.example\"},\"tool_use_id\":\"t1\"";
        sender.hook(hooks, event + "PreToolUse\"" + agent + "}");
        String ofAgent = ",\"agent_id\":\"sub-1\",\"agent_type\":\"general-purpose\"";
        sender.hook(hooks, event + "SubagentStart\"" + ofAgent + "}");
        sender.model("/v1/messages", "anthropic.messages", messages("ok", true), ofSession);
        String call =
                ",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"mail a@b.example\"},\"tool_use_id\":\"t2\"";
        sender.hook(hooks, event + "PreToolUse\"" + ofAgent + call + "}");
        sender.hook(hooks, event + "PostToolUseFailure\"" + ofAgent + call + ",\"error\":\"no a@b.example\"}");
        sender.hook(hooks, event + "SubagentStop\"" + ofAgent + ",\"stop_hook_active\":false}");
        sender.hook(hooks, event + "PostToolUse\"" + agent + ",\"tool_response\":{\"content\":\"done a@b.example\"}}");
        String denied =
                ",\"tool_name\":\"Write\",\"tool_input\":{\"file_path\":\"/w/a@b.example\"},\"tool_use_id\":\"t3\"";
        sender.hook(hooks, event + "PreToolUse\"" + denied + "}");
        sender.hook(hooks, event + "PermissionRequest\"" + denied + ",\"permission_suggestions\":[]}");
        sender.hook(hooks, event + "PermissionDenied\"" + denied + "}");
        sender.hook(
                hooks, event + "PostToolUse\"" + call.replace("t2", "t4") + ",\"tool_response\":{\"stdout\":\"x\"}}");
        sender.hook(hooks, event + "Notification\",\"message\":\"ask a@b.example\"}");
        sender.hook(hooks, event + "PreCompact\",\"trigger\":\"auto\",\"custom_instructions\":\"for a@b.example\"}");
        sender.hook(hooks, event + "PostCompact\",\"trigger\":\"auto\",\"compact_summary\":\"of a@b.example\"}");
        sender.model("/v1/messages", "anthropic.messages", messages("ok", false), ofSession);
        sender.hook(
                hooks,
                event + "UserPromptExpansion\",\"expansion_type\":\"slash_command\",\"command_name\":\"review\","
                        + "\"command_args\":\"a@b.example\",\"command_source\":\"user\",\"prompt\":\"/review\"}");
        sender.hook(hooks, event + "MessageDisplay\",\"delta\":\"a@b.example\"}");
        sender.hook(hooks, event + "UserPromptSubmit\",\"prompt\":\"and then c@d.example\"}");
        sender.trial("/v1/messages", "anthropic.messages", messages("overloaded", true), ofSession);
        sender.trial("/v1/messages", "anthropic.messages", messages("error-event", true), ofSession);
        sender.hook(hooks, event + "Stop\",\"stop_hook_active\":false}");
        sender.hook(hooks, event + "SessionEnd\",\"reason\":\"other\"}");
    }

    /** A session whose request comes before its prompt. */
    private static void claudeLate(RecordedComparison.Sender sender) {
        String event = "{\"session_id\":\"s-9\",\"cwd\":\"/w\",\"hook_event_name\":\"";
        String hooks = "/hooks/claude-code";
        sender.hook(hooks, event + "SessionStart\",\"source\":\"startup\"}");
        sender.model(
                "/v1/messages",
                "anthropic.messages",
                messages("ok", true),
                "user-agent: claude-cli/2.1.332",
                "x-claude-code-session-id: s-9",
                "x-auth-token: mine");
        sender.hook(hooks, event + "UserPromptSubmit\",\"prompt\":\"I am a@b.example\"}");
        sender.hook(hooks, event + "Stop\",\"stop_hook_active\":false}");
        sender.hook(hooks, event + "SessionEnd\",\"reason\":\"other\"}");
    }

    private static void codex(RecordedComparison.Sender sender) {
        String event =
                "{\"session_id\":\"s-2\",\"turn_id\":\"t1\",\"cwd\":\"/w\",\"model\":\"gpt-x\",\"hook_event_name\":\"";
        String hooks = "/hooks/codex";
        String[] ofSession = {"user-agent: codex_cli_rs/0.171.0", "session_id: s-2"};
        sender.hook(hooks, event + "SessionStart\",\"source\":\"startup\"}");
        // The request comes before the prompt.
        sender.model("/v1/responses", "openai.responses", responses("ok", true), ofSession);
        sender.hook(hooks, event + "UserPromptSubmit\",\"prompt\":\"I am a@b.example\"}");
        sender.hook(hooks, event + "UserPromptSubmit\",\"prompt\":\"no, I am c@d.example\"}");
        sender.hook(hooks, event + "SubagentStart\",\"agent_id\":\"sub-2\",\"agent_type\":\"worker\"}");
        sender.model(
                "/v1/responses",
                "openai.responses",
                responses("ok", false),
                "user-agent: codex_cli_rs/0.171.0",
                "session_id: s-2",
                "x-openai-subagent: collab_spawn",
                "thread_id: sub-2");
        sender.hook(hooks, event + "SubagentStop\",\"agent_id\":\"sub-2\",\"agent_type\":\"worker\"}");
        sender.trial("/v1/responses", "openai.responses", responses("failed", true), ofSession);
        sender.trial("/v1/responses", "openai.responses", responses("overloaded", false), ofSession);
        String call =
                ",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"mail a@b.example\"},\"tool_use_id\":\"t1\"";
        sender.hook(hooks, event + "PreToolUse\"" + call + "}");
        // Its end never comes.
        sender.hook(hooks, event + "Stop\",\"stop_hook_active\":false,\"last_assistant_message\":\"to a@b.example\"}");
    }

    private static void pi(RecordedComparison.Sender sender) {
        String event = "{\"session_id\":\"s-3\",\"type\":\"";
        for (String hook : List.of(
                "session_start\"",
                "before_agent_start\",\"prompt\":\"I am a@b.example\"",
                "tool_call\",\"toolCallId\":\"p1\",\"toolName\":\"bash\",\"input\":{\"command\":\"mail a@b.example\"}",
                "tool_result\",\"toolCallId\":\"p1\",\"toolName\":\"bash\",\"isError\":true,"
                        + "\"content\":[{\"type\":\"text\",\"text\":\"no a@b.example\"}]",
                "session_compact\",\"summary\":\"of a@b.example\"",
                "agent_end\"",
                "session_shutdown\"")) {
            String name = hook.substring(0, hook.indexOf('"'));
            sender.hook("/hooks/pi", event + hook + ",\"hook_event_name\":\"" + name + "\"}");
        }
    }

    /** Without a session. */
    private static void alone(RecordedComparison.Sender sender) {
        for (String model : List.of("ok", "gzip", "overloaded", "plain-error", "no-json", "empty")) {
            sender.trial("/v1/messages", "anthropic.messages", messages(model, false));
            sender.trial("/v1/chat/completions", "openai.chat_completions", chat(model, false));
            sender.trial("/v1/responses", "openai.responses", responses(model, false));
        }
        sender.trial("/v1/chat/completions", "openai.chat_completions", chat("tools", true));
        // The stock daemon takes this for a worker that is lost, so it comes last.
        sender.trial("/v1/chat/completions", "openai.chat_completions", chat("breaks-off", true));
    }

    private static String messages(String model, boolean stream) {
        return "{\"model\":\"" + model + "\",\"max_tokens\":99,\"stream\":" + stream
                + ",\"system\":[{\"type\":\"text\",\"text\":\"be c@d.example\",\"cache_control\":{\"type\":\"ephemeral\"}}],"
                + "\"messages\":[{\"role\":\"user\",\"content\":\"I am a@b.example\"},{\"role\":\"assistant\",\"content\":"
                + "[{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"x\"},{\"type\":\"tool_use\",\"id\":\"t0\","
                + "\"name\":\"Bash\",\"input\":{\"command\":\"ls a@b.example\"}}]},{\"role\":\"user\",\"content\":"
                + "[{\"type\":\"tool_result\",\"tool_use_id\":\"t0\",\"is_error\":true,\"content\":\"no a@b.example\"},"
                + "{\"type\":\"document\",\"title\":\"a@b.example\",\"source\":{\"type\":\"text\",\"media_type\":\"text/plain\",\"data\":\"x\"}},"
                + "{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"https://x.example/i.png\"}},"
                + "{\"type\":\"text\",\"text\":\"go on\"}]}],\"tools\":[{\"name\":\"Bash\",\"description\":\"run\","
                + "\"input_schema\":{\"type\":\"object\"}}],\"metadata\":{\"user_id\":\"u\"}}";
    }

    private static String responses(String model, boolean stream) {
        return "{\"model\":\"" + model + "\",\"stream\":" + stream + ",\"instructions\":\"be c@d.example\",\"input\":["
                + "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"I am a@b.example\"}]},"
                + "{\"type\":\"function_call\",\"call_id\":\"t0\",\"name\":\"shell\",\"arguments\":\"{\\\"cmd\\\":\\\"ls a@b.example\\\"}\"},"
                + "{\"type\":\"function_call_output\",\"call_id\":\"t0\",\"output\":\"no a@b.example\"}],"
                + "\"tools\":[{\"type\":\"function\",\"name\":\"shell\",\"parameters\":{\"type\":\"object\"}}],"
                + "\"reasoning\":{\"effort\":\"low\"},\"store\":false,\"prompt_cache_key\":\"k\"}";
    }

    private static String chat(String model, boolean stream) {
        return "{\"model\":\"" + model + "\",\"stream\":" + stream
                + ",\"messages\":[{\"role\":\"system\",\"content\":\"be c@d.example\"},"
                + "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"I am a@b.example\"}]},"
                + "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"t0\",\"type\":\"function\",\"function\":{\"name\":\"f\","
                + "\"arguments\":\"{\\\"to\\\":\\\"a@b.example\\\"}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"t0\","
                + "\"content\":\"no a@b.example\"}],\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]}";
    }

    private static void answers(MockProvider provider) {
        provider.respond("/v1/messages", MESSAGES);
        provider.respond("/v1/responses", RESPONSES);
        provider.respond("/v1/chat/completions", CHAT);
    }

    private static final MockProvider.Responder MESSAGES = (request, reply) -> {
        List<String> start = List.of(
                "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":11,\"cache_read_input_tokens\":4,\"cache_creation_input_tokens\":2,\"output_tokens\":1}}}\n\n",
                "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n",
                "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"of a@b.example\"}}\n\n",
                "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"sig\"}}\n\n",
                "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
                "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
                "event: ping\ndata: {\"type\":\"ping\"}\n\n",
                "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"ask a@b.example\"}}\n\n");
        answer(
                request,
                reply,
                start,
                List.of(
                        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
                        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"},\"usage\":{\"output_tokens\":7}}\n\n",
                        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"),
                "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"no a@b.example\"}}\n\n",
                "{\"id\":\"msg_2\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[{\"type\":\"text\",\"text\":\"ask a@b.example\"},{\"type\":\"tool_use\",\"id\":\"t9\",\"name\":\"Bash\",\"input\":{\"command\":\"a@b.example\"}}],\"stop_reason\":\"tool_use\",\"stop_sequence\":null,\"usage\":{\"input_tokens\":5,\"output_tokens\":2,\"cache_read_input_tokens\":3}}",
                "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"no a@b.example\"}}");
    };

    private static final MockProvider.Responder RESPONSES = (request, reply) -> {
        String response =
                "{\"id\":\"resp_1\",\"object\":\"response\",\"model\":\"gpt-x\",\"status\":\"STATUS\",\"output\":[{\"type\":\"reasoning\",\"id\":\"r1\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"of a@b.example\"}]},{\"type\":\"message\",\"id\":\"m1\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"ask a@b.example\"}]}],\"error\":ERROR,\"usage\":{\"input_tokens\":12,\"output_tokens\":4,\"total_tokens\":16,\"input_tokens_details\":{\"cached_tokens\":2},\"output_tokens_details\":{\"reasoning_tokens\":1}}}";
        String complete = response.replace("STATUS", "completed").replace("ERROR", "null");
        answer(
                request,
                reply,
                List.of(
                        "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"model\":\"gpt-x\",\"status\":\"in_progress\",\"output\":[],\"usage\":null}}\n\n",
                        "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"m1\",\"output_index\":0,\"content_index\":0,\"delta\":\"ask a@b.example\"}\n\n"),
                List.of("event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":" + complete
                        + "}\n\n"),
                "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":"
                        + response.replace("STATUS", "failed")
                                .replace("ERROR", "{\"code\":\"server_error\",\"message\":\"no a@b.example\"}")
                        + "}\n\n",
                complete,
                "{\"error\":{\"message\":\"no a@b.example\",\"type\":\"rate_limit\",\"code\":null}}");
    };

    private static final MockProvider.Responder CHAT = (request, reply) -> answer(
            request,
            reply,
            List.of(
                    "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"gpt-y\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"index\":0,\"id\":\"t9\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]},\"finish_reason\":null}]}\n\n",
                    "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"gpt-y\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"to\\\":\\\"a@b.\"}}]},\"finish_reason\":null}]}\n\n"),
            List.of(
                    "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"gpt-y\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"example\\\"}\"}}]},\"finish_reason\":null}]}\n\n",
                    "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"gpt-y\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":8,\"completion_tokens\":2,\"total_tokens\":10,\"prompt_tokens_details\":{\"cached_tokens\":3}}}\n\n",
                    "data: [DONE]\n\n"),
            "data: {\"error\":{\"message\":\"no a@b.example\"}}\n\n",
            "{\"id\":\"c2\",\"object\":\"chat.completion\",\"model\":\"gpt-y\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"ask a@b.example\"},\"logprobs\":{\"content\":[{\"token\":\"ask\",\"bytes\":[97],\"logprob\":-1,\"top_logprobs\":[]}]},\"finish_reason\":\"length\"},{\"index\":1,\"message\":{\"role\":\"assistant\",\"content\":\"or c@d.example\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1,\"total_tokens\":4}}",
            "{\"error\":{\"message\":\"no a@b.example\",\"type\":\"rate_limit\",\"code\":null}}");

    /** The model's name says what becomes of the request. */
    private static void answer(
            MockProvider.Received request,
            Reply reply,
            List<String> start,
            List<String> end,
            String failure,
            String whole,
            String error)
            throws IOException {
        String model = request.bodyText().replaceFirst("(?s).*?\"model\":\"([^\"]*)\".*", "$1");
        boolean stream = request.bodyText().contains("\"stream\":true");
        switch (model) {
            case "overloaded" -> reply.sized(429, "application/json", error);
            case "plain-error" -> reply.sized(502, "text/plain", "no a@b.example");
            case "no-json" -> reply.sized(200, "application/json", "{\"a@b.example");
            case "empty" -> reply.sized(200, "application/json", "");
            case "gzip" -> {
                byte[] packed = gzip(whole);
                reply.head(
                        200,
                        "content-type: application/json",
                        "content-encoding: gzip",
                        "content-length: " + packed.length);
                reply.raw(packed);
            }
            case "breaks-off", "error-event", "failed" -> {
                reply.head(200, "content-type: text/event-stream", "transfer-encoding: chunked");
                for (String event : start) {
                    reply.chunk(event);
                }
                if (model.equals("breaks-off")) {
                    throw new IOException("on purpose");
                }
                reply.chunk(failure);
                reply.end();
            }
            default -> {
                if (stream) {
                    Answers.stream(
                            reply,
                            java.util.stream.Stream.concat(start.stream(), end.stream())
                                    .toList());
                } else {
                    reply.sized(200, "application/json", whole);
                }
            }
        }
    }

    private static byte[] gzip(String text) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
            gzip.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return bytes.toByteArray();
    }
}
