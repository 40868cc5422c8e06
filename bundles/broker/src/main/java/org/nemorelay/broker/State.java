package org.nemorelay.broker;

import java.util.Optional;
import org.nemorelay.protocol.LaunchGrant;

/** A route's state with what belongs to it. */
sealed interface State {
    RouteState kind();

    record Empty() implements State {
        @Override
        public RouteState kind() {
            return RouteState.EMPTY;
        }
    }

    /** A launch: its staged worker and report time change while it lasts. */
    final class Activating implements State {
        final String owner;
        final LaunchGrant grant;
        final long startedAt;
        long reportAt;
        Optional<Worker> staged = Optional.empty();

        Activating(String owner, LaunchGrant grant, long startedAt, long reportAt) {
            this.owner = owner;
            this.grant = grant;
            this.startedAt = startedAt;
            this.reportAt = reportAt;
        }

        @Override
        public RouteState kind() {
            return RouteState.ACTIVATING;
        }
    }

    record Ready(Worker worker) implements State {
        @Override
        public RouteState kind() {
            return RouteState.READY;
        }
    }

    record Draining(Worker worker, long deadline) implements State {
        @Override
        public RouteState kind() {
            return RouteState.DRAINING;
        }
    }

    record PassThrough(boolean permanent, long retryAt) implements State {
        @Override
        public RouteState kind() {
            return RouteState.PASS_THROUGH;
        }
    }

    record Recovering(Optional<Worker> worker, long deadline) implements State {
        @Override
        public RouteState kind() {
            return RouteState.RECOVERING;
        }
    }
}
