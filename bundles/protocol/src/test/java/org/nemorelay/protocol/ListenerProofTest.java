package org.nemorelay.protocol;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

class ListenerProofTest {
    private static final String TOKEN = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc";
    private static final String OTHER = "CAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg";
    private static final String ORIGIN = "http://127.0.0.1:47632";

    private final byte[] hookNonce = filled(1);
    private final byte[] daemonNonce = filled(2);

    private static byte[] filled(int value) {
        byte[] bytes = new byte[ListenerProof.NONCE_LENGTH];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }

    private static byte[] fields(byte[]... fields) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            for (byte[] field : fields) {
                out.writeInt(field.length);
                out.write(field);
            }
        }
        return bytes.toByteArray();
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Test
    void theAnswerIsNonceAndHmacOfTheRuntime() throws Exception {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(ascii(TOKEN), "HmacSHA256"));
        byte[] code = mac.doFinal(fields(
                ascii("nemo-relay listener proof v1: answer"),
                hookNonce,
                daemonNonce,
                ascii(ORIGIN),
                ascii("/_nemo-relay/hook/v1/proof")));
        byte[] answer = ListenerProof.answer(TOKEN, hookNonce, daemonNonce, ORIGIN);
        assertArrayEquals(daemonNonce, Arrays.copyOf(answer, 32));
        assertArrayEquals(code, Arrays.copyOfRange(answer, 32, 64));
    }

    @Test
    void theTokenIsNamedInADomainOfItsOwn() throws Exception {
        assertArrayEquals(
                MessageDigest.getInstance("SHA-256")
                        .digest(fields(ascii("nemo-relay listener proof v1: token"), ascii(TOKEN))),
                ListenerProof.tokenDigest(TOKEN));
        assertFalse(Arrays.equals(TokenDigest.ofSecret(TOKEN).digest().bytes(), ListenerProof.tokenDigest(TOKEN)));
    }

    @Test
    void anAnswerProvesOneTokenForOneNonceAndOneOrigin() {
        byte[] answer = ListenerProof.answer(TOKEN, hookNonce, daemonNonce, ORIGIN);
        assertTrue(ListenerProof.proves(answer, TOKEN, hookNonce, ORIGIN));
        assertFalse(ListenerProof.proves(answer, OTHER, hookNonce, ORIGIN));
        assertFalse(ListenerProof.proves(answer, TOKEN, daemonNonce, ORIGIN));
        assertFalse(ListenerProof.proves(answer, TOKEN, hookNonce, "http://127.0.0.1:47633"));
        assertFalse(ListenerProof.proves(Arrays.copyOf(answer, 63), TOKEN, hookNonce, ORIGIN));
        for (int i = 0; i < answer.length; i++) {
            byte[] changed = answer.clone();
            changed[i] ^= 1;
            assertFalse(ListenerProof.proves(changed, TOKEN, hookNonce, ORIGIN));
        }
    }

    @Test
    void theOriginIsTheAddressInItsCanonicalForm() throws Exception {
        assertEquals(ORIGIN, ListenerProof.origin(InetAddress.getByName("127.0.0.1"), 47632));
        assertEquals("http://127.0.0.1", ListenerProof.origin(InetAddress.getByName("127.0.0.1"), 80));
        assertEquals("http://[0:0:0:0:0:0:0:1]:1", ListenerProof.origin(InetAddress.getByName("::1"), 1));
    }

    @Test
    void headersSpellThirtyTwoBytes() {
        assertArrayEquals(
                hookNonce, ListenerProof.bytes(ListenerProof.text(hookNonce)).orElseThrow());
        assertEquals(Optional.empty(), ListenerProof.bytes(""));
        assertEquals(Optional.empty(), ListenerProof.bytes("AAAA"));
        assertEquals(Optional.empty(), ListenerProof.bytes("*".repeat(43)));
    }
}
