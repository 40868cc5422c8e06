package org.nemorelay.protocol.control;

import org.nemorelay.protocol.Directive;

/** What the daemon sends (relay-daemon 3.6). */
public sealed interface ServerEvent {
    String requestId();

    /** The answer to the command with the same id; {@code status} uses HTTP numbers. */
    record Reply(String requestId, int status, ReplyBody body) implements ServerEvent {
        public boolean succeeded() {
            return status >= 200 && status < 300;
        }
    }

    /** To be acknowledged within 5 s. */
    record DirectiveIssued(String requestId, Directive directive) implements ServerEvent {}

    /** To be acknowledged within 5 s: finish what is in flight by the deadline, then exit. {@code deadlineUnixMs} is unsigned. */
    record Drain(String requestId, String workerId, long deadlineUnixMs, long timeoutMs) implements ServerEvent {}

    /**
     * Why the daemon cannot reach this user's worker; not acknowledged, and sent only to a session that offers
     * {@link Capabilities#PEER}.
     *
     * @param endpoint where it was looked for
     * @param reason a clause about it
     */
    record WorkerUnreachable(String requestId, String endpoint, String reason) implements ServerEvent {}
}
