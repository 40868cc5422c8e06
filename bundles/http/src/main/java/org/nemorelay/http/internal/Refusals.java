package org.nemorelay.http.internal;

/** Hears, for the administrator, what a listener turns away; each kind at most every 10 s for each listener. */
interface Refusals {
    Refusals UNTOLD = new Refusals() {
        @Override
        public void noDescriptorLeft() {}

        @Override
        public void tooManyHandshakes(String address) {}
    };

    /** This process has as many files and connections open as it may. */
    void noDescriptorLeft();

    /** More TLS handshakes are under way at once than may be; {@code address} is that of the one who came last. */
    void tooManyHandshakes(String address);
}
