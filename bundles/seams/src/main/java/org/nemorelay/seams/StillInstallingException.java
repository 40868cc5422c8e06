package org.nemorelay.seams;

/** An installation or upgrade outlasted its bound: the worker is presumed to be still at it, so this counts as no attempt. */
public final class StillInstallingException extends TimedOutException {
    private static final long serialVersionUID = 1L;

    public StillInstallingException(String message) {
        super(message);
    }
}
