package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;

class AdmissionTest {
    private static final InetAddress ONE = InetAddress.ofLiteral("192.0.2.1");
    private static final InetAddress OTHER = InetAddress.ofLiteral("192.0.2.2");

    @Test
    void case39SeventeenthAttemptOfAnAddressIsRefusedUntilTheWindowEnds() {
        Admission admission = new Admission(16, 64);
        for (int i = 0; i < 16; i++) {
            assertTrue(admission.admit(ONE, 1_000));
        }
        assertFalse(admission.admit(ONE, 15_999));
        assertTrue(admission.admit(OTHER, 15_999));
        assertTrue(admission.admit(ONE, 16_000));
    }

    @Test
    void case40FullTableRefusesNewAddressesUntilEntriesExpire() {
        Admission admission = new Admission(16, 64);
        for (int i = 0; i < 1_024; i++) {
            assertTrue(admission.admit(InetAddress.ofLiteral("10.0." + i / 256 + "." + i % 256), 0));
        }
        assertFalse(admission.admit(ONE, 14_999));
        assertTrue(admission.admit(ONE, 15_000));
    }

    @Test
    void loopbackIsManyUsers() {
        Admission admission = new Admission(16, 64);
        for (int i = 0; i < 64; i++) {
            assertTrue(admission.admit(InetAddress.getLoopbackAddress(), 0));
        }
        assertFalse(admission.admit(InetAddress.getLoopbackAddress(), 0));
    }
}
