package org.nemorelay.seams.carrier;

import java.util.function.Consumer;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.control.ControlHandler;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.seams.control.Outcome;
import org.nemorelay.seams.control.ProgressSink;

/** How requests of one verb meet its handler (distributed-seams 4.4), the same for every carrier. */
public final class VerbServing {
    private static final byte[] FAILED = new FailedReply().encode();

    private final String where;
    private final ControlHandler handler;
    private final boolean serial;
    private final Faults faults;
    private final ProgressSink progress;
    private final Runnable stopTaking;
    private final InFlight running;

    /**
     * @param serial one request at a time on the calling thread, otherwise a thread per request
     * @param stopTaking ends the interest at the transport without waiting, after a fault in serial mode
     */
    public VerbServing(
            String nodeId,
            ControlVerb verb,
            ControlHandler handler,
            boolean serial,
            Faults faults,
            ProgressSink progress,
            Runnable stopTaking) {
        this.where = "serving " + verb + " of node " + nodeId;
        this.handler = handler;
        this.serial = serial;
        this.faults = faults;
        this.progress = progress;
        this.stopTaking = stopTaking;
        this.running = new InFlight(where);
    }

    /**
     * Serves one request; in serial mode on the calling thread.
     *
     * @param answer gets the outcome of a request that was served, once
     */
    public void serve(byte[] body, String delivery, Consumer<Outcome> answer) {
        if (!serial) {
            Thread runner = Thread.ofVirtual().name(where).unstarted(() -> run(body, delivery, answer));
            if (running.enter(runner)) {
                runner.start();
            }
        } else if (running.enter()) {
            run(body, delivery, answer);
        }
    }

    private void run(byte[] body, String delivery, Consumer<Outcome> answer) {
        try {
            Outcome outcome = handler.handle(Context.background(), body, progress);
            switch (outcome) {
                case Outcome.Undecodable undecodable -> faults.warn(where, undecodable.cause());
                case Outcome.Dropped dropped -> faults.warn(where, "dropped a request: " + dropped.cause());
                case Outcome.Reply reply -> {}
                case Outcome.Silent silent -> {}
            }
            answer.accept(outcome);
        } catch (Throwable thrown) {
            failed(delivery, thrown, answer);
        } finally {
            running.leave();
        }
    }

    private void failed(String delivery, Throwable thrown, Consumer<Outcome> answer) {
        if (Faults.meant(thrown)) {
            faults.refused(where, delivery, thrown);
            answer.accept(new Outcome.Reply(new FailedReply(thrown.getMessage()).encode()));
        } else if (serial) {
            running.refuse();
            stopTaking.run();
            faults.fatal(where, delivery, thrown);
        } else {
            faults.caught(where, delivery, thrown);
            answer.accept(new Outcome.Reply(FAILED));
        }
    }

    /** Drops what comes from now on and waits for running handlers. */
    public void close() {
        running.close();
    }
}
