package org.nemorelay.worker.internal.observe;

/** How the copy of an answer ended. */
enum Terminal {
    /** Read to its end. */
    COMPLETE("complete"),
    /** The provider broke it off. */
    BODY_ERROR("body_error"),
    /** The client went away before its end. */
    CANCELLED("cancelled"),
    /** Nobody saw an end. */
    UNKNOWN("unknown");

    private final String word;

    Terminal(String word) {
        this.word = word;
    }

    String word() {
        return word;
    }
}
