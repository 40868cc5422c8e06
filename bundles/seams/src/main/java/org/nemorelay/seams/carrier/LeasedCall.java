package org.nemorelay.seams.carrier;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.nemorelay.seams.dial.BackendClient.Call;

/** A call that has something, such as a turn or a carrier, until it is closed. */
public final class LeasedCall implements Call {
    private final Call call;
    private final Runnable giveBack;
    private final AtomicBoolean over = new AtomicBoolean();

    /** @param giveBack run once, after the call was closed */
    public LeasedCall(Call call, Runnable giveBack) {
        this.call = call;
        this.giveBack = giveBack;
    }

    @Override
    public void send(byte[] message) {
        call.send(message);
    }

    @Override
    public void halfClose() {
        call.halfClose();
    }

    @Override
    public Optional<byte[]> next() {
        return call.next();
    }

    @Override
    public void close() {
        call.close();
        if (over.compareAndSet(false, true)) {
            giveBack.run();
        }
    }
}
