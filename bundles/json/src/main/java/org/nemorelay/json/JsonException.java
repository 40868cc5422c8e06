package org.nemorelay.json;

/** Text that is not JSON, or JSON of another shape than the reader asked for; the message names the place. */
public final class JsonException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public JsonException(String message) {
        super(message);
    }
}
