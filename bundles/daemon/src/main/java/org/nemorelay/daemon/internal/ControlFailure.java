package org.nemorelay.daemon.internal;

import java.util.Optional;
import org.nemorelay.broker.Refusal;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.control.ReplyBody;
import org.nemorelay.protocol.control.ServerEvent;

/** Why a control command is refused; the socket stays. */
record ControlFailure(int status, String message, Optional<String> code) {
    static ControlFailure of(FailureKind kind, String message) {
        return new ControlFailure(
                kind.status(),
                message,
                kind == FailureKind.CREDENTIAL_REJECTED
                        ? Optional.of(ReplyBody.Failure.CREDENTIAL_REJECTED)
                        : Optional.empty());
    }

    static ControlFailure of(Refusal refusal) {
        return of(refusal.kind(), refusal.message());
    }

    static ControlFailure unauthorized(String message) {
        return of(FailureKind.UNAUTHORIZED, message);
    }

    ServerEvent.Reply reply(String requestId) {
        return new ServerEvent.Reply(requestId, status, new ReplyBody.Failure(message, code));
    }
}
