package org.nemorelay.plugin.api;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonText;

/**
 * A request to a model: its raw body and a typed view of it. Immutable, safe for any thread; every change is a new request.
 * A change through the typed view changes the bytes that it must and no others; a request that nobody changes goes to the
 * provider byte for byte.
 *
 * <p>The body is there only for a service whose {@code needsBody()} says so; the relay then holds the request until it has
 * read it. For every other service what reads the body throws {@link IllegalStateException}.
 */
public final class ModelRequest {
    private final ModelApi api;
    private final String path;
    private final HeaderMap headers;
    private final Optional<JsonText> body;

    private ModelRequest(ModelApi api, String path, HeaderMap headers, Optional<JsonText> body) {
        this.api = Objects.requireNonNull(api, "a request without an API");
        this.path = Objects.requireNonNull(path, "a request without a path");
        this.headers = Objects.requireNonNull(headers, "a request without headers");
        this.body = body;
    }

    /** A request whose body was not read. */
    public static ModelRequest ofHead(ModelApi api, String path, HeaderMap headers) {
        return new ModelRequest(api, path, headers, Optional.empty());
    }

    /** A whole request; the body is plain, whatever content coding the caller used. */
    public static ModelRequest of(ModelApi api, String path, HeaderMap headers, JsonText body) {
        return new ModelRequest(api, path, headers, Optional.of(body));
    }

    public ModelApi api() {
        return api;
    }

    /** As the agent asked for it, without a query. */
    public String path() {
        return path;
    }

    public HeaderMap headers() {
        return headers;
    }

    /** Whether the body was read. */
    public boolean hasBody() {
        return body.isPresent();
    }

    /**
     * The body's text.
     *
     * @throws IllegalStateException when it was not read
     */
    public JsonText body() {
        return body.orElseThrow(() ->
                new IllegalStateException("the request's body was not read: the service has to say so in needsBody()"));
    }

    /** The model that is asked for. */
    public Optional<String> model() {
        return body().string("/model");
    }

    /** Whether the answer shall come as a stream. */
    public boolean streaming() {
        return body().at("/stream").filter(Boolean.TRUE::equals).isPresent();
    }

    /** The conversation, with the instructions beside it as its first message. */
    public List<Message> messages() {
        return TypedJson.messages(api, TypedJson.object(body().value()));
    }

    /** The tools that the model may call. */
    public List<Tool> tools() {
        return TypedJson.tools(api, TypedJson.object(body().value()));
    }

    public ModelRequest withHeaders(HeaderMap changed) {
        return new ModelRequest(api, path, changed, body);
    }

    /** With exactly one header of the name. */
    public ModelRequest withHeader(String name, String value) {
        return withHeaders(headers.with(name, value));
    }

    public ModelRequest withoutHeader(String name) {
        return withHeaders(headers.without(name));
    }

    /** With another body; length and content coding follow by themselves. */
    public ModelRequest withBody(JsonText changed) {
        return new ModelRequest(api, path, headers, Optional.of(changed));
    }

    public ModelRequest withModel(String model) {
        return withBody(body().with("/model", model));
    }

    /** With another text in the place of one that was read from this request. */
    public ModelRequest withText(Part.Text part, String text) {
        return withBody(body().with(part.pointer(), text));
    }

    /** Without a tool that was read from this request. Read the tools anew before the next one is taken away. */
    public ModelRequest withoutTool(Tool tool) {
        return withBody(body().without(tool.pointer()));
    }

    /**
     * With one message more at the end of the conversation.
     *
     * @param role the API's own word; Anthropic Messages has none for instructions, which stand beside the conversation: change
     *     their text, or the body
     */
    public ModelRequest withMessage(String role, String text) {
        String place = api == ModelApi.OPENAI_RESPONSES ? "/input" : "/messages";
        Map<String, Object> message = Json.object("role", role, "content", text);
        return switch (body().at(place).orElse(List.of())) {
            case List<?> list when !list.isEmpty() -> withBody(body().with(place + "/-", message));
            case String input
            when api == ModelApi.OPENAI_RESPONSES ->
                withBody(body().with(place, List.of(Json.object("role", "user", "content", input), message)));
            default -> withBody(body().with(place, List.of(message)));
        };
    }

    /**
     * Whether the body is a JSON object, as every API's is.
     *
     * @throws IllegalStateException when it was not read
     */
    public boolean readable() {
        try {
            body().object();
            return true;
        } catch (JsonException e) {
            return false;
        }
    }

    @Override
    public String toString() {
        return api.word() + " " + path;
    }
}
