package org.nemorelay.it.process;

/** How a client speaks to the daemon. */
enum Version {
    HTTP_1_1,
    /** Cleartext HTTP/2 with prior knowledge. */
    H2C
}
