package org.nemorelay.backend.echo;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.nemorelay.backend.ChatDelta;
import org.nemorelay.backend.ChatMessage;
import org.nemorelay.backend.Methods;
import org.nemorelay.backend.ModelOptions;
import org.nemorelay.backend.PredictOptions;
import org.nemorelay.backend.Reply;
import org.nemorelay.backend.Result;
import org.nemorelay.backend.StatusReply;
import org.nemorelay.backend.ToolCall;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.RefusedException;
import org.nemorelay.seams.dial.BackendService;

/**
 * Answers an inference with the last message's words, or the prompt's, as many as were asked for: one piece of a stream
 * for each word, with the space before it. Before a model is loaded it refuses. A user's {@code /call NAME ARGUMENTS} in a
 * stream is answered with that call where there are tools; what a tool said comes back as any last message does.
 */
public final class EchoBackend implements BackendService {
    private final Duration delay;
    private final Set<String> loaded = ConcurrentHashMap.newKeySet();

    /** @param delay before each piece */
    public EchoBackend(Duration delay) {
        this.delay = delay;
    }

    @Override
    public void serve(String method, Exchange exchange) {
        byte[] request = exchange.next().orElse(new byte[0]);
        try {
            switch (method) {
                case Methods.HEALTH -> exchange.send(Reply.of("OK", 0, 0).encode());
                case Methods.LOAD_MODEL -> {
                    loaded.add(ModelOptions.decode(request).model());
                    exchange.send(new Result("loaded", true).encode());
                }
                case Methods.FREE -> {
                    loaded.clear();
                    exchange.send(new Result("freed", true).encode());
                }
                case Methods.STATUS ->
                    exchange.send(new StatusReply(
                                    loaded.isEmpty() ? StatusReply.State.UNINITIALIZED : StatusReply.State.READY)
                            .encode());
                case Methods.PREDICT -> predict(PredictOptions.decode(request), exchange);
                case Methods.PREDICT_STREAM -> stream(PredictOptions.decode(request), exchange);
                default -> throw new RefusedException("UNIMPLEMENTED", "the echo backend has no method " + method);
            }
        } catch (IllegalArgumentException e) {
            throw new RefusedException("INVALID_ARGUMENT", e.getMessage());
        }
    }

    private void predict(PredictOptions options, Exchange exchange) {
        List<String> words = words(options);
        words.forEach(word -> pause());
        exchange.send(Reply.of(String.join(" ", words), words.size(), promptTokens(options))
                .encode());
    }

    private void stream(PredictOptions options, Exchange exchange) {
        Optional<ToolCall> call = call(options);
        if (call.isPresent()) {
            exchange.send(new Reply(
                            new byte[0], 1, promptTokens(options), List.of(new ChatDelta("", "", List.of(call.get()))))
                    .encode());
            return;
        }
        int made = 0;
        for (String word : words(options)) {
            pause();
            exchange.send(Reply.of(made == 0 ? word : " " + word, ++made, promptTokens(options))
                    .encode());
        }
    }

    /** What a user's {@code /call NAME ARGUMENTS} asks for, where there are tools. */
    private Optional<ToolCall> call(PredictOptions options) {
        if (options.tools().isEmpty() || options.messages().isEmpty()) {
            return Optional.empty();
        }
        ChatMessage last = options.messages().getLast();
        String[] words = last.content().split(" ", 3);
        if (!last.role().equals("user") || !words[0].equals("/call") || words.length < 2) {
            return Optional.empty();
        }
        requireLoaded(options);
        return Optional.of(new ToolCall(0, "call-1", words[1], words.length > 2 ? words[2] : "{}"));
    }

    private List<String> words(PredictOptions options) {
        requireLoaded(options);
        List<String> words = split(text(options));
        return options.tokens() > 0 && options.tokens() < words.size() ? words.subList(0, options.tokens()) : words;
    }

    private void requireLoaded(PredictOptions options) {
        if (loaded.isEmpty()) {
            throw new RefusedException("FAILED_PRECONDITION", "model not loaded");
        }
        if (!options.modelIdentity().isEmpty() && !loaded.contains(options.modelIdentity())) {
            throw new RefusedException("FAILED_PRECONDITION", "wrong model loaded");
        }
    }

    private static String text(PredictOptions options) {
        return Optional.of(options.messages())
                .filter(messages -> !messages.isEmpty())
                .map(messages -> messages.getLast().content())
                .orElse(options.prompt());
    }

    private static int promptTokens(PredictOptions options) {
        return options.messages().isEmpty()
                ? split(options.prompt()).size()
                : options.messages().stream()
                        .map(ChatMessage::content)
                        .mapToInt(content -> split(content).size())
                        .sum();
    }

    private static List<String> split(String text) {
        return text.isBlank() ? List.of() : List.of(text.strip().split("\\s+"));
    }

    private void pause() {
        if (delay.isZero()) {
            return;
        }
        try {
            Thread.sleep(delay);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancelledException("the echo backend was interrupted");
        }
    }
}
