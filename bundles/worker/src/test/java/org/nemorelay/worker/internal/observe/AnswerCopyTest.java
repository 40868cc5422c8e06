package org.nemorelay.worker.internal.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.zip.GZIPOutputStream;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

@Timeout(60)
class AnswerCopyTest {
    private static final String MESSAGES = "event: message_start\r\n"
            + "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[],"
            + "\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\r\n\r\n"
            + "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
            + "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Grüße\"}}\n\n"
            + "data: not json\n\n"
            + ": comment\n\n"
            + "data: {\"type\":\"message_delta\",\n"
            + "data: \"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}}\n\n";
    private static final String STOP = "data: {\"type\":\"message_stop\"}\n\n";
    private static final String JSON =
            "{\"id\":\"c\",\"choices\":[{\"message\":{\"content\":\"Hi\"},\"finish_reason\":\"length\"}]}";

    private final Recorder recorder = new Recorder();
    private final TrafficEvents events = recorder.events(Map.of(), 100_000);

    @AfterEach
    void close() throws Exception {
        events.close("end", 10_000);
    }

    @Test
    void streamsAreReadWhereverTheyAreCut() throws Exception {
        ObservedCall call = call("/v1/messages");
        call.head(200, "text/event-stream; charset=utf-8", "", -1);
        for (byte b : (MESSAGES + STOP).getBytes(StandardCharsets.UTF_8)) {
            call.bytes(ByteBuffer.wrap(new byte[] {b}));
        }
        JsonObject end = end("anthropic.messages");
        assertEquals(
                Json.parse("{\"content\":[{\"text\":\"Grüße\",\"type\":\"text\"}],\"id\":\"m\",\"role\":\"assistant\","
                        + "\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":1,\"output_tokens\":3}}"),
                end.object("data").values());
        observation(end, 200, "complete", false, "OK");
    }

    @Test
    void theProvidersLastEventEndsTheRecord() throws Exception {
        ObservedCall call = call("/v1/messages");
        call.head(200, "text/event-stream", "", -1);
        call.bytes(bytes(MESSAGES + STOP));
        events.flush().join();
        observation(recorder.only("anthropic.messages", "end"), 200, "complete", false, "OK");
        call.end(Terminal.CANCELLED);
        observation(end("anthropic.messages"), 200, "complete", false, "OK");
    }

    @Test
    void aStreamThatStopsShortLeavesWhatCame() throws Exception {
        ObservedCall call = call("/v1/messages");
        call.head(200, "text/event-stream", "", -1);
        call.bytes(bytes(MESSAGES));
        call.end(Terminal.CANCELLED);
        JsonObject end = end("anthropic.messages");
        observation(end, 200, "cancelled", false, "OK");
        assertEquals("m", end.object("data").string("id"));
    }

    @Test
    void aBrokenAnswerIsAnError() throws Exception {
        ObservedCall call = call("/v1/chat/completions");
        call.head(200, "application/json", "", 1000);
        call.bytes(bytes("{\"id\":"));
        call.end(Terminal.BODY_ERROR);
        JsonObject end = end("openai.chat_completions");
        observation(end, 200, "body_error", false, "ERROR");
        assertFalse(end.has("data"));
    }

    @Test
    void compressedAnswersAreRead() throws Exception {
        ObservedCall call = call("/v1/chat/completions");
        byte[] compressed = gzip(JSON);
        call.head(200, "application/json", "gzip", compressed.length);
        call.bytes(ByteBuffer.wrap(compressed));
        call.end(Terminal.COMPLETE);
        JsonObject end = end("openai.chat_completions");
        assertEquals("c", end.object("data").string("id"));
        assertEquals(
                "length",
                end.object("category_profile").object("annotated_response").string("finish_reason"));
    }

    @Test
    void anUnknownEncodingLeavesTheHeadAndIsNoted() throws Exception {
        ObservedCall call = call("/v1/chat/completions");
        call.head(200, "application/json", "br", -1);
        call.bytes(bytes("xx"));
        call.end(Terminal.COMPLETE);
        JsonObject end = end("openai.chat_completions");
        JsonObject observation = end.object("metadata").object("daemon_worker_observation");
        assertEquals("br", observation.string("undecoded"));
        assertFalse(end.has("data"));
    }

    @Test
    void aRefusalOfTheProviderIsAnErrorWithItsText() throws Exception {
        ObservedCall call = call("/v1/messages");
        call.head(429, "application/json", "", -1);
        call.bytes(bytes("{\"error\":{\"type\":\"rate_limit_error\"}}"));
        call.end(Terminal.COMPLETE);
        JsonObject end = end("anthropic.messages");
        observation(end, 429, "complete", false, "ERROR");
        assertEquals("retryable_status", end.object("metadata").string("error.type"));
        assertTrue(end.object("data").has("error"));
        assertEquals(
                Map.of(
                        "api_specific",
                        Map.of("api", "anthropic_messages"),
                        "error",
                        Map.of("type", "rate_limit_error")),
                end.object("category_profile").object("annotated_response").values());
    }

    @Test
    void withoutAnAnswerThereIsNoObservation() throws Exception {
        call("/v1/messages").end(Terminal.UNKNOWN);
        JsonObject end = end("anthropic.messages");
        assertFalse(end.object("metadata").has("daemon_worker_observation"));
        assertEquals("ERROR", end.object("metadata").string("otel.status_code"));
    }

    @Test
    void whatExceedsTheLimitIsTruncatedAndSaysSo() throws Exception {
        ObservedCall call = call("/v1/chat/completions");
        call.head(200, "application/json", "", -1);
        call.bytes(ByteBuffer.allocate(60_000));
        call.bytes(ByteBuffer.allocate(60_000));
        call.end(Terminal.COMPLETE);
        JsonObject end = end("openai.chat_completions");
        observation(end, 200, "complete", true, "ERROR");
        assertEquals("observation was truncated", end.object("metadata").string("otel.status_description"));
        assertFalse(end.has("data"));
    }

    @Test
    void anAnswerThatAnnouncesMoreThanTheLimitIsTruncatedFromItsHeadOn() throws Exception {
        ObservedCall call = call("/v1/chat/completions");
        call.head(200, "application/json", "", 100_001);
        call.bytes(bytes(JSON));
        call.end(Terminal.COMPLETE);
        JsonObject end = end("openai.chat_completions");
        observation(end, 200, "complete", true, "ERROR");
        assertFalse(end.has("data"));
    }

    @Test
    void aReaderThatStandsStillCostsBoundedMemoryAndNoTime() throws Exception {
        Recorder stuck = new Recorder();
        TrafficEvents slow = stuck.events(Map.of(), 100_000_000);
        CountDownLatch release = new CountDownLatch(1);
        stuck.holdUntil(release);
        ObservedCall call = slow.call("/v1/messages", HttpFields.EMPTY, -1, Optional.empty())
                .orElseThrow();
        call.head(200, "text/event-stream", "", -1);
        byte[] frame = "data: {}\n\n".repeat(6000).getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < 100; i++) {
            call.bytes(ByteBuffer.wrap(frame));
        }
        call.end(Terminal.COMPLETE);
        release.countDown();
        slow.close("end", 10_000);
        JsonObject end = stuck.only("anthropic.messages", "end");
        observation(end, 200, "complete", true, "ERROR");
    }

    private ObservedCall call(String path) {
        return events.call(path, HttpFields.EMPTY, -1, Optional.empty()).orElseThrow();
    }

    private JsonObject end(String name) throws Exception {
        events.close("end", 10_000);
        return recorder.only(name, "end");
    }

    private static void observation(JsonObject end, int status, String terminal, boolean truncated, String code) {
        JsonObject metadata = end.object("metadata");
        assertEquals(
                Map.of("http_status", (long) status, "terminal", terminal, "truncated", truncated),
                metadata.object("daemon_worker_observation").values());
        assertEquals("head_only", metadata.string("daemon_worker_request_capture"));
        assertEquals(code, metadata.string("otel.status_code"));
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] gzip(String text) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return out.toByteArray();
    }
}
