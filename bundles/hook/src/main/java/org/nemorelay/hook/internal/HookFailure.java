package org.nemorelay.hook.internal;

import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;

/** A hook that was not delivered: the category for logs, and one line for people in the stock binary's words. */
public final class HookFailure extends Exception {
    private static final long serialVersionUID = 1L;

    private final String kind;

    private HookFailure(String kind, String message) {
        super(message);
        this.kind = kind;
    }

    static HookFailure of(RelayException failure) {
        return new HookFailure(failure.kind().word(), "configuration error: " + failure.getMessage());
    }

    static HookFailure unauthorized(String problem) {
        return new HookFailure("unauthorized", "unauthorized gateway client: " + problem);
    }

    /** The daemon was not reached, or the exchange with it broke. */
    static HookFailure delivery(String problem) {
        return new HookFailure("launch", "launcher error: " + problem);
    }

    static HookFailure timeout(String problem) {
        return new HookFailure("timeout", "launcher error: " + problem);
    }

    static HookFailure tooLarge(String problem) {
        return new HookFailure("payload_too_large", "payload too large: " + problem);
    }

    static HookFailure invalidPayload(String problem) {
        return new HookFailure("invalid_payload", "invalid hook payload: " + problem);
    }

    /** A defect of this program; its name and place are what a report needs. */
    static HookFailure internal(Throwable defect) {
        return new HookFailure("internal", Reasons.defect(defect));
    }

    /** The daemon answered, and not with success. */
    static HookFailure answered(int status, String problem) {
        String text = "the daemon answered " + status + (problem.isEmpty() ? "" : ": " + problem);
        if (status == 401) {
            return unauthorized(
                    text + "; no session of this user is registered there under its client token: the agent's MCP"
                            + " entry (`nemo-relay daemon mcp`) has to run, and to find the same token");
        }
        if (status == 413) {
            return tooLarge(text);
        }
        if (status == 503) {
            return new HookFailure(
                    "upstream",
                    "upstream error: " + text
                            + "; this user's worker does not serve yet: try again, and ask `nemo-relay status`");
        }
        return status == 400 ? invalidPayload(text) : new HookFailure("upstream", "upstream error: " + text);
    }

    /** The word in log events. */
    String kind() {
        return kind;
    }
}
