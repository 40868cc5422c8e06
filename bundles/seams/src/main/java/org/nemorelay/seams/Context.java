package org.nemorelay.seams;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * How long a call may take and whether its caller still wants it. A deadline is not an event: who waits asks
 * {@link #remaining()}. Work that several callers share runs on {@link #detached()}, or one cancelled caller fails the
 * others (seed, open item on files.ensure). Safe for any thread.
 */
public class Context {
    private static final Context BACKGROUND = new Context(Optional.empty(), Optional.empty());

    private final Optional<Context> parent;
    private final Optional<Long> deadlineNanos;

    private Context(Optional<Context> parent, Optional<Long> deadlineNanos) {
        this.parent = parent;
        this.deadlineNanos = deadlineNanos;
    }

    /** Never cancelled, no deadline. */
    public static Context background() {
        return BACKGROUND;
    }

    /** This context with a deadline no later than {@code timeout} from now. */
    public Context withTimeout(Duration timeout) {
        long wanted = System.nanoTime() + timeout.toNanos();
        long deadline = deadlineNanos
                .map(mine -> mine - wanted < 0 ? mine : (Long) wanted)
                .orElse(wanted);
        return new Context(Optional.of(this), Optional.of(deadline));
    }

    /** This context with a cancellation of its own. */
    public Cancellable cancellable() {
        return new Cancellable(this);
    }

    /** A context that this one's cancellation and deadline do not reach. */
    public Context detached() {
        return BACKGROUND;
    }

    /** Time left, zero or negative when spent; empty without a deadline. */
    public Optional<Duration> remaining() {
        return deadlineNanos.map(deadline -> Duration.ofNanos(deadline - System.nanoTime()));
    }

    /** The shorter of what is left and {@code bound}; never negative. */
    public Duration remainingWithin(Duration bound) {
        Duration left = remaining().orElse(bound);
        Duration shorter = left.compareTo(bound) < 0 ? left : bound;
        return shorter.isNegative() ? Duration.ZERO : shorter;
    }

    public boolean expired() {
        return remaining().map(left -> left.isNegative() || left.isZero()).orElse(false);
    }

    public boolean cancelled() {
        return parent.map(Context::cancelled).orElse(false);
    }

    /** Throws {@link CancelledException} when cancelled, {@link TimedOutException} when the deadline has passed. */
    public void check(String what) {
        if (cancelled()) {
            throw new CancelledException(what + ": cancelled by the caller");
        }
        if (expired()) {
            throw new TimedOutException(what + ": the deadline has passed");
        }
    }

    /** Runs {@code action} once when this context is cancelled, at once when it is already; closing the result forgets it. */
    public Registration onCancel(Runnable action) {
        return parent.map(above -> above.onCancel(action)).orElse(() -> {});
    }

    /** A context that its owner can cancel, together with everything derived from it. */
    public static final class Cancellable extends Context implements AutoCloseable {
        private final Set<Runnable> actions = new LinkedHashSet<>();
        private final Registration fromParent;
        private boolean cancelled;

        private Cancellable(Context parent) {
            super(Optional.of(parent), parent.deadlineNanos);
            this.fromParent = parent.onCancel(this::cancel);
        }

        public void cancel() {
            List<Runnable> due;
            synchronized (actions) {
                if (cancelled) {
                    return;
                }
                cancelled = true;
                due = new ArrayList<>(actions);
                actions.clear();
            }
            due.forEach(Runnable::run);
        }

        /** Cancels, and lets go of the parent. */
        @Override
        public void close() {
            fromParent.close();
            cancel();
        }

        @Override
        public boolean cancelled() {
            synchronized (actions) {
                if (cancelled) {
                    return true;
                }
            }
            return super.cancelled();
        }

        @Override
        public Registration onCancel(Runnable action) {
            Runnable own = action::run;
            synchronized (actions) {
                if (!cancelled) {
                    actions.add(own);
                    return () -> {
                        synchronized (actions) {
                            actions.remove(own);
                        }
                    };
                }
            }
            action.run();
            return () -> {};
        }
    }
}
