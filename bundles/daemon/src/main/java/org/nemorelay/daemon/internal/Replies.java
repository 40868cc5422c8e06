package org.nemorelay.daemon.internal;

import java.util.Optional;
import org.nemorelay.protocol.control.ReplyBody;
import org.nemorelay.protocol.control.ServerEvent;

/** Answers to commands; a session remembers its last one for its repetition. Control thread, but for {@link #refuse}. */
final class Replies {
    private Replies() {}

    /** Refuses a command; the session's sequence does not move. */
    static void refuse(ControlSocket socket, String requestId, ControlFailure failure) {
        socket.send(failure.reply(requestId));
    }

    static void succeed(ControlSocket socket, ControlSession session, String requestId, ReplyBody body) {
        reply(socket, session, new ServerEvent.Reply(requestId, body instanceof ReplyBody.Empty ? 204 : 200, body));
    }

    static void fail(ControlSocket socket, ControlSession session, String requestId, ControlFailure failure) {
        reply(socket, session, failure.reply(requestId));
    }

    private static void reply(ControlSocket socket, ControlSession session, ServerEvent.Reply reply) {
        if (session.socket.filter(current -> current == socket).isPresent()) {
            session.lastReply = Optional.of(reply);
        }
        socket.send(reply);
    }
}
