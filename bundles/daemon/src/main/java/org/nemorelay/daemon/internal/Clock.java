package org.nemorelay.daemon.internal;

/** Time in milliseconds. Deadlines use the monotonic one, so that a clock that is set does not move them. */
interface Clock {
    Clock SYSTEM = new Clock() {
        @Override
        public long monotonicMs() {
            return System.nanoTime() / 1_000_000;
        }

        @Override
        public long unixMs() {
            return System.currentTimeMillis();
        }
    };

    long monotonicMs();

    long unixMs();
}
