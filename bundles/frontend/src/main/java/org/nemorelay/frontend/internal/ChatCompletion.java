package org.nemorelay.frontend.internal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Blocker;
import org.eclipse.jetty.util.Callback;
import org.nemorelay.backend.ChatDelta;
import org.nemorelay.backend.Methods;
import org.nemorelay.backend.Reply;
import org.nemorelay.backend.ToolCall;
import org.nemorelay.json.Json;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.RefusedException;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.TimedOutException;
import org.nemorelay.seams.UnreachableException;
import org.nemorelay.seams.dial.BackendClient;

/**
 * One chat request on a virtual thread. Until the first piece of an answer came, another replica may take it over; after
 * that a broken connection ends the stream with an error event and without {@code [DONE]}.
 */
final class ChatCompletion {
    private static final int ATTEMPTS = 3;
    private static final byte[] DONE = "data: [DONE]\n\n".getBytes(StandardCharsets.UTF_8);

    private final Router router;
    private final ModelEntry model;
    private final OpenAi.Chat chat;
    private final OpenAi.Envelope envelope;
    private final Response response;
    private final Callback callback;
    private final Context.Cancellable context = Context.background().cancellable();
    /** What the backend has told so far; its replies carry totals. */
    private int promptTokens;

    private int tokens;

    ChatCompletion(
            Router router,
            ModelEntry model,
            OpenAi.Chat chat,
            OpenAi.Envelope envelope,
            Request request,
            Response response,
            Callback callback) {
        this.router = router;
        this.model = model;
        this.chat = chat;
        this.envelope = envelope;
        this.response = response;
        this.callback = callback;
        request.addFailureListener(failure -> context.cancel());
    }

    void run() {
        try {
            Set<String> avoid = new HashSet<>();
            for (int attempt = 1; ; attempt++) {
                try (Router.Lease lease = router.route(context, model, avoid)) {
                    if (attempt(lease, attempt < ATTEMPTS)) {
                        return;
                    }
                    avoid.add(lease.nodeId());
                }
            }
        } catch (CancelledException | IOException e) {
            callback.failed(e); // The client has gone.
        } catch (SeamException e) {
            fail(e.kind(), e.getMessage());
        } catch (RelayException e) {
            fail(e.kind(), e.getMessage());
        } finally {
            context.close();
        }
    }

    /** False when another replica may try: nothing has been answered yet, and this one cannot. */
    private boolean attempt(Router.Lease lease, boolean another) throws IOException {
        boolean begun = false;
        try (BackendClient.Call call = lease.client().open(context, Methods.PREDICT_STREAM)) {
            call.send(chat.options().encode());
            call.halfClose();
            Optional<byte[]> first = call.next();
            lease.answered();
            begun = true;
            if (chat.stream()) {
                stream(call, first);
            } else {
                whole(call, first);
            }
            return true;
        } catch (TimedOutException e) {
            return failed(begun, false, e);
        } catch (UnreachableException e) {
            lease.unreachable();
            return failed(begun, another, e);
        } catch (RefusedException e) {
            boolean absent = e.getMessage().contains("model not loaded")
                    || e.getMessage().contains("wrong model loaded");
            if (absent) {
                lease.gone();
            }
            return failed(begun, another && absent, e);
        }
    }

    /** False to go on elsewhere; an answer under way is ended with the error. */
    private boolean failed(boolean begun, boolean another, SeamException e) throws IOException {
        if (begun && chat.stream()) {
            write(true, event(OpenAi.error(e.kind(), "the stream broke off: " + e.getMessage())));
            callback.succeeded();
            return true;
        }
        if (another && !begun) {
            return false;
        }
        throw e;
    }

    private void stream(BackendClient.Call call, Optional<byte[]> first) throws IOException {
        response.setStatus(200);
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, "text/event-stream");
        response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-cache");
        Utf8Pieces text = new Utf8Pieces();
        boolean opened = false;
        boolean tools = false;
        for (Optional<byte[]> next = first; next.isPresent(); next = call.next()) {
            for (ChatDelta piece : pieces(counted(next.get()), text)) {
                Map<String, Object> delta = OpenAi.delta(piece);
                if (delta.isEmpty()) {
                    continue;
                }
                tools |= !piece.toolCalls().isEmpty();
                if (!opened) {
                    opened = true;
                    Map<String, Object> opening = Json.object("role", "assistant");
                    opening.putAll(delta);
                    delta = opening;
                }
                write(false, event(envelope.chunk(delta, Optional.empty())));
            }
        }
        String rest = text.end();
        if (!rest.isEmpty()) {
            write(false, event(envelope.chunk(Json.object("content", rest), Optional.empty())));
        }
        write(false, event(envelope.chunk(Json.object(), Optional.of(reason(tools)))));
        if (chat.usage()) {
            write(false, event(envelope.usageChunk(promptTokens, tokens)));
        }
        write(true, DONE);
        callback.succeeded();
    }

    private void whole(BackendClient.Call call, Optional<byte[]> first) throws IOException {
        Utf8Pieces text = new Utf8Pieces();
        StringBuilder content = new StringBuilder();
        StringBuilder reasoning = new StringBuilder();
        List<ToolCall> calls = new ArrayList<>();
        for (Optional<byte[]> next = first; next.isPresent(); next = call.next()) {
            for (ChatDelta piece : pieces(counted(next.get()), text)) {
                content.append(piece.content());
                reasoning.append(piece.reasoning());
                piece.toolCalls().forEach(call2 -> merge(calls, call2));
            }
        }
        content.append(text.end());
        response.setStatus(200);
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/json");
        byte[] body = Json.write(envelope.whole(
                        content.toString(),
                        reasoning.toString(),
                        calls,
                        reason(!calls.isEmpty()),
                        promptTokens,
                        tokens))
                .getBytes(StandardCharsets.UTF_8);
        response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.length);
        write(true, body);
        callback.succeeded();
    }

    private static void merge(List<ToolCall> calls, ToolCall piece) {
        for (int i = 0; i < calls.size(); i++) {
            ToolCall call = calls.get(i);
            if (call.index() == piece.index()) {
                calls.set(
                        i,
                        new ToolCall(
                                call.index(),
                                call.id().isEmpty() ? piece.id() : call.id(),
                                call.name().isEmpty() ? piece.name() : call.name(),
                                call.arguments() + piece.arguments()));
                return;
            }
        }
        calls.add(piece);
    }

    private String reason(boolean tools) {
        if (tools) {
            return "tool_calls";
        }
        return chat.options().tokens() > 0 && tokens >= chat.options().tokens() ? "length" : "stop";
    }

    private Reply counted(byte[] message) {
        Reply reply = decoded(message);
        promptTokens = Math.max(promptTokens, reply.promptTokens());
        tokens = Math.max(tokens, reply.tokens());
        return reply;
    }

    private static Reply decoded(byte[] message) {
        try {
            return Reply.decode(message);
        } catch (IllegalArgumentException e) {
            throw new RefusedException("UNDECODABLE", "the backend answered with something else: " + e.getMessage());
        }
    }

    private static List<ChatDelta> pieces(Reply reply, Utf8Pieces text) {
        return reply.deltas().isEmpty()
                ? List.of(new ChatDelta(text.add(reply.message()), "", List.of()))
                : reply.deltas();
    }

    private static byte[] event(Map<String, Object> json) {
        return ("data: " + Json.write(json) + "\n\n").getBytes(StandardCharsets.UTF_8);
    }

    private void write(boolean last, byte[] bytes) throws IOException {
        try (Blocker.Callback written = Blocker.callback()) {
            response.write(last, ByteBuffer.wrap(bytes), written);
            written.block();
        }
    }

    private void fail(FailureKind kind, String message) {
        Surface.json(response, callback, kind.status(), OpenAi.error(kind, message));
    }
}
