package org.nemorelay.http;

/** How the forwarder speaks to a destination. */
public enum WireProtocol {
    /** Over TLS HTTP/2 where the server chooses it. */
    HTTP_1_1,
    /** Cleartext HTTP/2 with prior knowledge. */
    H2C
}
