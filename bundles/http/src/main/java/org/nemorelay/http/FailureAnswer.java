package org.nemorelay.http;

import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** Answers a request whose response head never came, and completes the callback. */
@FunctionalInterface
public interface FailureAnswer {
    /** With a {@code nemo_relay_gateway_error} body. */
    FailureAnswer GATEWAY = (failure, response, callback) ->
            Answers.gatewayError(response, callback, status(failure), failure.reason());

    /** 504 for a head that took too long, 400 for a request that cannot be sent, 502 for the rest. */
    static int status(Outcome.BeforeHead failure) {
        return switch (failure) {
            case Outcome.HeadTimeout _ -> 504;
            case Outcome.Unsendable _ -> 400;
            case Outcome.UploadAborted _, Outcome.ConnectFailed _, Outcome.NoResponse _, Outcome.BadHead _ -> 502;
        };
    }

    void write(Outcome.BeforeHead failure, Response response, Callback callback);
}
