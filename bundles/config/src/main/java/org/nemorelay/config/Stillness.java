package org.nemorelay.config;

import java.util.concurrent.TimeUnit;

/** Whether what is looked at again and again has stood still: copies come in pieces, and changes together. Of one thread. */
public final class Stillness<T> {
    private T last;
    private long since = System.nanoTime();

    public Stillness(T first) {
        this.last = first;
    }

    /** Another look; one that shows something else begins anew. */
    public void seen(T now) {
        if (!now.equals(last)) {
            last = now;
            since = System.nanoTime();
        }
    }

    public T last() {
        return last;
    }

    public boolean stoodFor(long millis) {
        return System.nanoTime() - since >= TimeUnit.MILLISECONDS.toNanos(millis);
    }
}
