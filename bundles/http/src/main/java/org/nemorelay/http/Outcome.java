package org.nemorelay.http;

/** How a forwarded exchange ended. */
public sealed interface Outcome {
    /** The whole response was written to the client. */
    record Completed(int status) implements Outcome {}

    /** The client went away; upstream was told at once. */
    record ClientCancelled() implements Outcome {}

    /** Anything that is not the client's leaving or a success. {@code reason} is one line without secrets. */
    sealed interface Failed extends Outcome {
        String reason();
    }

    /** No response head was passed on, so a {@link FailureAnswer} answers. */
    sealed interface BeforeHead extends Failed {}

    /** The client's body broke off, or was malformed, before the response's head. */
    record UploadAborted(String reason) implements BeforeHead {}

    /** The request cannot be put into what upstream speaks: nothing of it left this process. */
    record Unsendable(String reason) implements BeforeHead {}

    /** No connection: nothing of the request left this process. */
    record ConnectFailed(String reason) implements BeforeHead {}

    /** The connection failed between submission and the response's head. */
    record NoResponse(String reason) implements BeforeHead {}

    /** What came is no acceptable response head. */
    record BadHead(String reason) implements BeforeHead {}

    /** {@link Destination#headTimeoutMs()} passed. */
    record HeadTimeout(String reason) implements BeforeHead {}

    /** Upstream broke off the response's body; the client's stream was broken off too. */
    record BodyBroken(String reason) implements Failed {}
}
