package org.nemorelay.broker;

import java.util.HashMap;
import java.util.Map;
import org.nemorelay.broker.Resolution.PassThrough;
import org.nemorelay.broker.Resolution.Reason;
import org.nemorelay.broker.Resolution.Unavailable;

/** What requests are answered, by state of their route. */
final class Gates {
    private final BrokerSettings settings;
    private final Map<Reason, Gate> closed;
    final Gate empty;
    final Resolution globalBound = new PassThrough(true, Reason.GLOBAL_PASS_THROUGH);
    final Resolution globalUnbound = new PassThrough(false, Reason.GLOBAL_PASS_THROUGH);
    final Resolution unbound;
    final Resolution noSession;

    Gates(BrokerSettings settings) {
        this.settings = settings;
        this.unbound = answer(false, Reason.UNBOUND);
        this.noSession = answer(false, Reason.NO_SESSION);
        Map<Reason, Gate> gates = new HashMap<>();
        for (Reason reason : Reason.values()) {
            gates.put(reason, new Gate.Closed(answer(true, reason)));
        }
        this.closed = Map.copyOf(gates);
        this.empty = closed.get(Reason.EMPTY);
    }

    /** The gate of a route that comes into that state; a worker that stays published under its token keeps its own. */
    Gate of(State state, Gate current) {
        return switch (state) {
            case State.Empty _ -> empty;
            case State.Activating _ -> closed.get(Reason.ACTIVATING);
            case State.Ready ready -> {
                Worker worker = ready.worker();
                if (!worker.published) {
                    yield closed.get(Reason.CONTROL_UNAVAILABLE);
                }
                yield current instanceof Target target
                                && target.worker == worker
                                && target.dataToken.equals(worker.dataToken)
                        ? target
                        : new Target(worker, worker.dataToken);
            }
            case State.Draining _ -> closed.get(Reason.DRAINING);
            case State.PassThrough passThrough ->
                closed.get(passThrough.permanent() ? Reason.GLOBAL_PASS_THROUGH : Reason.FAILED);
            case State.Recovering _ -> closed.get(Reason.RECOVERING);
        };
    }

    private Resolution answer(boolean bound, Reason reason) {
        return settings.requireWorker() ? new Unavailable(reason) : new PassThrough(bound, reason);
    }
}
