package org.nemorelay.seams.control;

/** What a control handler made of one request. */
public sealed interface Outcome {
    /** The worker's own answer. */
    record Reply(byte[] body) implements Outcome {}

    /**
     * The body could not be decoded: {@code body} is the verb's typed refusal, which every carrier sends. A carrier with a
     * signal of its own for a malformed request (HTTP 400) gives it too.
     */
    record Undecodable(byte[] body, String cause) implements Outcome {}

    /** The verb has no reply. */
    record Silent() implements Outcome {}

    /** The body could not be decoded and the verb has no reply: the request is dropped. */
    record Dropped(String cause) implements Outcome {}
}
