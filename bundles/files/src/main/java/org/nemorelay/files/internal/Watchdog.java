package org.nemorelay.files.internal;

import java.io.IOException;
import java.nio.channels.ByteChannel;
import java.time.Duration;

/** Closes a connection that has stood still for too long. */
public final class Watchdog implements Wire.Pulse, AutoCloseable {
    private final ByteChannel channel;
    private final Thread thread;
    private volatile long limitNanos;
    private volatile long lastBeat = System.nanoTime();
    private volatile boolean barked;

    public Watchdog(ByteChannel channel, Duration limit) {
        this.channel = channel;
        this.limitNanos = limit.toNanos();
        this.thread = Thread.ofVirtual().name("file transfer watch").start(this::watch);
    }

    @Override
    public void beat() {
        lastBeat = System.nanoTime();
    }

    /** Another limit from now on. */
    public void limit(Duration limit) {
        lastBeat = System.nanoTime();
        limitNanos = limit.toNanos();
        thread.interrupt();
    }

    /** Whether it has closed the connection. */
    public boolean barked() {
        return barked;
    }

    private volatile boolean done;

    private void watch() {
        while (!done) {
            long left = lastBeat + limitNanos - System.nanoTime();
            if (left <= 0) {
                barked = true;
                quietly(channel);
                return;
            }
            try {
                Thread.sleep(Duration.ofNanos(left));
            } catch (InterruptedException e) {
                // Another limit, or the end.
            }
        }
    }

    @Override
    public void close() {
        done = true;
        thread.interrupt();
    }

    public static void quietly(ByteChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            // It is no more of use either way.
        }
    }
}
