package org.nemorelay.worker.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.control.Secret;
import org.nemorelay.worker.internal.Admission.Verdict;

/** Edge cases of tokens and of the probe (relay-daemon 7). */
final class AdmissionTest {
    private static HttpFields token(String... tokens) {
        HttpFields.Mutable fields = HttpFields.build();
        for (String token : tokens) {
            fields.add("X-Nemo-Relay-Worker-Token", token);
        }
        return fields;
    }

    private final Admission admission = new Admission();

    @Test
    void nothingIsAuthenticBeforeATokenIsIssued() {
        assertFalse(admission.authentic(token()));
        assertFalse(admission.authentic(token("")));
        assertEquals(Verdict.PASS_BY, admission.enter());
    }

    @Test
    void exactlyOneTokenAndTheRightOne() {
        admission.issued(new Secret("one"));
        assertTrue(admission.authentic(token("one")));
        assertFalse(admission.authentic(token()));
        assertFalse(admission.authentic(token("two")));
        assertFalse(admission.authentic(token("one", "one")));
        assertFalse(admission.authentic(token("one,one")));
    }

    @Test
    void onlyTheTokenIssuedLastOpens() {
        admission.issued(new Secret("one"));
        assertEquals(Verdict.PASS_BY, admission.enter());
        assertTrue(admission.probe(token("one")));
        assertEquals(Verdict.ENTER, admission.enter());
        admission.controlLost();
        assertEquals(Verdict.PASS_BY, admission.enter());
        assertFalse(admission.probe(token("one")), "still valid, yet no proof of a new registration");
        admission.issued(new Secret("two"));
        assertTrue(admission.authentic(token("one")), "valid until the probe");
        assertFalse(admission.probe(token("one")));
        assertEquals(Verdict.PASS_BY, admission.enter());
        assertTrue(admission.probe(token("two")));
        assertFalse(admission.authentic(token("one")));
        assertEquals(Verdict.ENTER, admission.enter());
    }

    @Test
    void stoppingIsForGood() throws Exception {
        admission.issued(new Secret("one"));
        assertTrue(admission.probe(token("one")));
        assertEquals(Verdict.ENTER, admission.enter());
        admission.stop();
        assertEquals(Verdict.STOPPING, admission.enter());
        assertFalse(admission.probe(token("one")));
        assertFalse(admission.awaitIdle(1));
        admission.leave();
        assertTrue(admission.awaitIdle(1));
        assertEquals(0, admission.inFlight());
    }
}
