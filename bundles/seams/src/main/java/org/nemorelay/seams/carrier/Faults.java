package org.nemorelay.seams.carrier;

import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.seams.SeamException;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;
import org.nemorelay.telemetry.ProcessControl;

/**
 * What becomes of an exception that a handler lets out. One that it means (checked, {@link SeamException},
 * {@link RelayException}) is a warning. Any other is a fault of the program: where handlers run one after the other it ends
 * the process, so that a supervisor starts it afresh; where each has its own thread it is logged.
 */
public final class Faults {
    private static final String TARGET = "nemo_relay.seams";

    private final EventLog log;
    private final ProcessControl process;

    public Faults(EventLog log, ProcessControl process) {
        this.log = log;
        this.process = process;
    }

    public static boolean meant(Throwable thrown) {
        return thrown instanceof SeamException
                || thrown instanceof RelayException
                || (thrown instanceof Exception && !(thrown instanceof RuntimeException));
    }

    /** @param delivery identifies the message, such as its subject and number */
    public void refused(String where, String delivery, Throwable thrown) {
        log.log(Level.WARN, TARGET, "", where + " could not serve " + delivery + ": " + thrown.getMessage());
    }

    public void warn(String where, String what) {
        log.log(Level.WARN, TARGET, "", where + ": " + what);
    }

    public void caught(String where, String delivery, Throwable thrown) {
        log.log(Level.ERROR, TARGET, "", where + " failed on " + delivery + " and goes on: " + thrown);
    }

    /** Reports once and ends the process with a non-zero status. */
    public void fatal(String where, String delivery, Throwable thrown) {
        process.fail(new RelayException(
                FailureKind.INTERNAL, where + " failed on " + delivery + ", the process ends: " + thrown, thrown));
    }
}
