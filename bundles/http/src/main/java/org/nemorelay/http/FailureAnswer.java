package org.nemorelay.http;

import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** Answers a request whose response head never came, and completes the callback. */
@FunctionalInterface
public interface FailureAnswer {
    /** 504 for a head that took too long, 502 for the rest, with a {@code nemo_relay_gateway_error} body. */
    FailureAnswer GATEWAY = (failure, response, callback) -> Answers.gatewayError(
            response, callback, failure instanceof Outcome.HeadTimeout ? 504 : 502, failure.reason());

    void write(Outcome.BeforeHead failure, Response response, Callback callback);
}
