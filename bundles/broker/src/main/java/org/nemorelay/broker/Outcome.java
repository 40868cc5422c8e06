package org.nemorelay.broker;

import java.util.List;

/** What a call to the {@link Broker} did: its answer, and every transition it caused in order. A refusal may cause some too. */
public sealed interface Outcome<T> {
    List<Transition> transitions();

    record Accepted<T>(T value, List<Transition> transitions) implements Outcome<T> {}

    record Refused<T>(Refusal refusal, List<Transition> transitions) implements Outcome<T> {}
}
