package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.nemorelay.daemon.internal.Admission.Verdict;

class AdmissionTest {
    private static final InetAddress ONE = InetAddress.ofLiteral("192.0.2.1");
    private static final InetAddress OTHER = InetAddress.ofLiteral("192.0.2.2");

    private static void admitted(Verdict verdict) {
        assertEquals(Verdict.ADMITTED, verdict);
    }

    @Test
    void case39SeventeenthAttemptOfAnAddressIsRefusedUntilTheWindowEnds() {
        Admission admission = new Admission(16, 64);
        for (int i = 0; i < 16; i++) {
            admitted(admission.admit(ONE, 1_000));
        }
        assertEquals(Verdict.ONE_TOO_MANY, admission.admit(ONE, 15_999));
        admitted(admission.admit(OTHER, 15_999));
        admitted(admission.admit(ONE, 16_000));
    }

    @Test
    void case40FullTableRefusesNewAddressesUntilEntriesExpire() {
        Admission admission = new Admission(16, 64);
        for (int i = 0; i < 1_024; i++) {
            admitted(admission.admit(InetAddress.ofLiteral("10.0." + i / 256 + "." + i % 256), 0));
        }
        assertEquals(Verdict.TOO_MANY_PEERS, admission.admit(ONE, 14_999));
        admitted(admission.admit(ONE, 15_000));
    }

    @Test
    void loopbackIsManyUsers() {
        Admission admission = new Admission(16, 64);
        for (int i = 0; i < 64; i++) {
            admitted(admission.admit(InetAddress.getLoopbackAddress(), 0));
        }
        assertEquals(Verdict.ONE_TOO_MANY, admission.admit(InetAddress.getLoopbackAddress(), 0));
        assertEquals(64, admission.limit(InetAddress.getLoopbackAddress()));
        assertEquals(16, admission.limit(ONE));
    }
}
