package org.nemorelay.protocol.control;

/** Why an MCP process could not bring up the worker it was told to launch: a closed list, other text is {@link #UNKNOWN} (relay-daemon 3.4). */
public enum ActivationFailure {
    EXECUTABLE_RESOLUTION_FAILED("worker_executable_resolution_failed"),
    PROCESS_SPAWN_FAILED("worker_process_spawn_failed"),
    PIPE_UNAVAILABLE("worker_activation_pipe_unavailable"),
    GRANT_SERIALIZATION_FAILED("worker_activation_grant_serialization_failed"),
    GRANT_WRITE_FAILED("worker_activation_grant_write_failed"),
    PIPE_CLOSE_FAILED("worker_activation_pipe_close_failed"),
    CLEANUP_FAILED("worker_activation_cleanup_failed"),
    EXITED_BEFORE_READY("worker_exited_before_ready"),
    READINESS_TIMEOUT("worker_readiness_timeout"),
    UNKNOWN("unknown_worker_activation_failure");

    private final String word;

    ActivationFailure(String word) {
        this.word = word;
    }

    /** The word on the wire and in logs. */
    public String word() {
        return word;
    }

    public static ActivationFailure of(String word) {
        for (ActivationFailure failure : values()) {
            if (failure.word.equals(word)) {
                return failure;
            }
        }
        return UNKNOWN;
    }
}
