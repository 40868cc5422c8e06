package org.nemorelay.broker;

/** What a route answers to a request right now. */
sealed interface Gate permits Target, Gate.Closed {
    /** No worker: the same answer for every request. */
    record Closed(Resolution answer) implements Gate {}
}
