package org.nemorelay.plugin.api;

import java.util.List;
import java.util.Optional;
import org.nemorelay.json.JsonText;
import org.osgi.annotation.versioning.ProviderType;

/**
 * A provider's answer, whole or as a stream. Immutable: every change is a new answer. An answer that nobody changes reaches
 * the agent byte for byte, its content coding included.
 */
@ProviderType
public interface ModelResponse {
    ModelApi api();

    int status();

    /** Without what belongs to the connection. */
    HeaderMap headers();

    /**
     * The answer with other headers. Length, content coding and what belongs to the connection are the relay's: what is said of
     * them here is not heeded.
     */
    ModelResponse withHeaders(HeaderMap headers);

    /** With exactly one header of the name. */
    default ModelResponse withHeader(String name, String value) {
        return withHeaders(headers().with(name, value));
    }

    /** An answer that is there as a whole: one that was not asked for as a stream, an error, an answer of a plugin. */
    @ProviderType
    interface Whole extends ModelResponse {
        /**
         * The body's text, plain whatever its content coding.
         *
         * <p>Its values throw {@link org.nemorelay.json.JsonException} where a provider sends no JSON, as some do with an
         * error.
         */
        JsonText body();

        /** With another body; length and content coding follow by themselves. */
        Whole withBody(JsonText changed);

        @Override
        Whole withHeaders(HeaderMap headers);

        /** With another status, 200 to 599; 204, 205 and 304 have no body. Any other is the plugin's failure. */
        Whole withStatus(int status);

        /** The model that answered. */
        default Optional<String> model() {
            return body().string("/model");
        }

        /** What the model said: texts, tool calls and the rest, in order; those of every choice. */
        default List<Part> output() {
            return TypedJson.output(api(), TypedJson.object(body().value()));
        }

        /** Why the model stopped, in the API's own word; empty where it does not say. */
        default String finishReason() {
            return TypedJson.finishReason(api(), TypedJson.object(body().value()));
        }

        default Optional<Usage> usage() {
            return TypedJson.usage(api(), body().at("/usage").orElse(""));
        }

        /** With another text in the place of one that was read from this answer. */
        default Whole withText(Part.Text part, String text) {
            return withBody(body().with(part.pointer(), text));
        }
    }

    /** An answer that comes as server-sent events. */
    @ProviderType
    interface Streamed extends ModelResponse {
        /** With a handler behind those that it has already; events reach it as they come. */
        Streamed through(StreamHandler handler);

        @Override
        Streamed withHeaders(HeaderMap headers);
    }

    /** An answer of the plugin's own; for the status see {@link Whole#withStatus}. */
    static Whole of(ModelApi api, int status, JsonText body) {
        return new OwnResponse(api, status, HeaderMap.of().with("content-type", "application/json"), body);
    }

    /** A streamed answer of the plugin's own, status 200. */
    static Streamed of(ModelApi api, List<StreamEvent> events) {
        return new ReplayedStream(api, HeaderMap.of().with("content-type", "text/event-stream"), events, List.of());
    }
}
