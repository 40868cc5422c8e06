package org.nemorelay.backend.echo;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.nemorelay.backend.ChatMessage;
import org.nemorelay.backend.Methods;
import org.nemorelay.backend.ModelOptions;
import org.nemorelay.backend.PredictOptions;
import org.nemorelay.backend.Reply;
import org.nemorelay.backend.Result;
import org.nemorelay.backend.StatusReply;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.RefusedException;
import org.nemorelay.seams.dial.BackendService;

/**
 * Answers an inference with the last message's words, or the prompt's, as many as were asked for: one piece of a stream
 * for each word, with the space before it. Before a model is loaded it refuses.
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
        int made = 0;
        for (String word : words(options)) {
            pause();
            exchange.send(Reply.of(made == 0 ? word : " " + word, ++made, promptTokens(options))
                    .encode());
        }
    }

    private List<String> words(PredictOptions options) {
        if (loaded.isEmpty()) {
            throw new RefusedException("FAILED_PRECONDITION", "model not loaded");
        }
        if (!options.modelIdentity().isEmpty() && !loaded.contains(options.modelIdentity())) {
            throw new RefusedException("FAILED_PRECONDITION", "wrong model loaded");
        }
        List<String> words = split(text(options));
        return options.tokens() > 0 && options.tokens() < words.size() ? words.subList(0, options.tokens()) : words;
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
