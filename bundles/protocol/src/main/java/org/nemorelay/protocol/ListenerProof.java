package org.nemorelay.protocol;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;

/**
 * How a listener shows a hook that it is the user's daemon before it is told any secret. The hook sends a nonce and a
 * digest that names its client token; who knows the token itself answers with a nonce of its own and HMAC-SHA256, keyed by
 * the token, over both nonces, the connection's origin and the path. The origin is the address that the connection leads
 * to, as each end sees it: a listener that passes the question on to the daemon gets an answer for another one.
 *
 * <p>The HMAC is written out over {@link MessageDigest}: a {@code Mac} costs a hook twice as much as all of this.
 */
public final class ListenerProof {
    /** Where a GET with the two headers is answered. */
    public static final String PATH = "/_nemo-relay/hook/v1/proof";

    /** The hook's nonce, as {@link #text}. */
    public static final String NONCE_HEADER = "x-nemo-relay-proof-nonce";

    /** {@link #tokenDigest} of the hook's token, as {@link #text}. */
    public static final String TOKEN_HEADER = "x-nemo-relay-proof-token";

    public static final int NONCE_LENGTH = 32;

    /** The body of a positive answer: the daemon's nonce, then the code. */
    public static final int ANSWER_LENGTH = 64;

    private static final int BLOCK = 64;
    private static final String TOKEN_DOMAIN = "nemo-relay listener proof v1: token";
    private static final String ANSWER_DOMAIN = "nemo-relay listener proof v1: answer";

    private ListenerProof() {}

    /** Names a token without telling it, and without being its {@link TokenDigest}. */
    public static byte[] tokenDigest(String token) {
        MessageDigest sha256 = sha256();
        field(sha256, ascii(TOKEN_DOMAIN));
        field(sha256, ascii(token));
        return sha256.digest();
    }

    /** The origin that a cleartext connection to this address has in a proof. */
    public static String origin(InetAddress address, int port) {
        String host = address.getHostAddress();
        return new DaemonUrl(false, host.indexOf(':') < 0 ? host : "[" + host + "]", port).origin();
    }

    /** The answer that proves knowledge of the token. */
    public static byte[] answer(String token, byte[] hookNonce, byte[] daemonNonce, String origin) {
        byte[] key = Arrays.copyOf(ascii(token), BLOCK);
        MessageDigest sha256 = sha256();
        sha256.update(padded(key, 0x36));
        field(sha256, ascii(ANSWER_DOMAIN));
        field(sha256, hookNonce);
        field(sha256, daemonNonce);
        field(sha256, ascii(origin));
        field(sha256, ascii(PATH));
        byte[] inner = sha256.digest();
        sha256.update(padded(key, 0x5c));
        byte[] code = sha256.digest(inner);
        byte[] answer = Arrays.copyOf(daemonNonce, ANSWER_LENGTH);
        System.arraycopy(code, 0, answer, NONCE_LENGTH, code.length);
        return answer;
    }

    /** Whether the answer proves knowledge of the token. Takes the same time wherever an answer is wrong. */
    public static boolean proves(byte[] answer, String token, byte[] hookNonce, String origin) {
        return answer.length == ANSWER_LENGTH
                && MessageDigest.isEqual(answer, answer(token, hookNonce, Arrays.copyOf(answer, NONCE_LENGTH), origin));
    }

    /** 32 bytes as a header spells them: base64url without padding. */
    public static String text(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /** The 32 bytes that a header spells, or nothing. */
    public static Optional<byte[]> bytes(String text) {
        try {
            byte[] bytes = Base64.getUrlDecoder().decode(text);
            return bytes.length == NONCE_LENGTH ? Optional.of(bytes) : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** Length first, so that no two lists of fields are the same bytes. */
    private static void field(MessageDigest sha256, byte[] value) {
        sha256.update(ByteBuffer.allocate(Integer.BYTES).putInt(0, value.length));
        sha256.update(value);
    }

    private static byte[] padded(byte[] key, int pad) {
        byte[] padded = new byte[BLOCK];
        for (int i = 0; i < BLOCK; i++) {
            padded[i] = (byte) (key[i] ^ pad);
        }
        return padded;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java runtime has SHA-256", e);
        }
    }
}
