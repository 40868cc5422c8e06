package org.nemorelay.protocol.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.Digest;
import org.nemorelay.protocol.TokenDigest;

/** Appendix A of the facts sheet. */
class SampleVectorsTest {
    private static final List<String> CAPABILITIES =
            List.of("activation_cancel_v1", "http1", "http2", "sse_passthrough", "streaming_body_frames", "trailers");
    private static final String ORIGIN = "http://127.0.0.1:47632";

    private final SigningKey mcp = key(1, "8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c");
    private final SigningKey daemon = key(2, "8139770ea87d175f56a35466c34c7ecccb8d8a91b4ee37a25df60f5b8fc9b394");
    private final ClientCommand.Challenge challenge = new ClientCommand.Challenge(
            descriptor(Role.MCP), "mcp-1", mcp.publicKey(), mcp.fingerprint(), filled(32, 0x11));
    private final ReplyBody.ChallengeIssued issued = ReplyBody.ChallengeIssued.sign(
            daemon,
            descriptor(Role.DAEMON),
            "daemon-1",
            hex("000102030405060708090a0b0c0d0e0f"),
            filled(32, 0x22),
            1000,
            16000,
            challenge);
    private final TokenDigest token = TokenDigest.ofSecret(
            Base64.getUrlEncoder().withoutPadding().encodeToString(filled(32, 7).bytes()));
    private final Transcript transcript = Transcript.of(ORIGIN, challenge, issued, 1, Optional.of(token));

    @Test
    void layout() {
        assertEquals(
                "4e454d4f2d52454c41592d5349474e45442d5452414e534352495054000000000000000001640000000100000000000000016100000000000000020102",
                HexFormat.of()
                        .formatHex(new SignedBytes("d", 1)
                                .field("a", new byte[] {1, 2})
                                .bytes()));
    }

    @Test
    void identities() {
        assertEquals(
                "34750f98bd59fcfc946da45aaabe933be154a4b5094e1c4abf42866505f3c97e",
                mcp.fingerprint().hex());
        assertEquals(
                "6a3803d5f059902a1c6dafbc9ba4729212f7caac08634cc3ae76b27529f03827",
                daemon.fingerprint().hex());
        assertEquals(
                "dc4bf80c77473d130fa0de86ba4018fe98bb214005e6a5891d12ba91446f9e81",
                token.digest().hex());
    }

    @Test
    void challengeAttestation() {
        byte[] bytes = issued.signedBytes(challenge);
        assertEquals(1152, bytes.length);
        assertEquals("ca8659505530e46d6c54d80487d751bb286208c89050e52b35bf98ef232937ef", digest(bytes));
        assertEquals(
                "c12185515a5a604d7dc13d8ff683ddc9dda890b0a8bbc4928b241a5b48521d776e403fce273b5a0010a449b41eeb11037c4dd2b8e9ae3ab028c9246c250eaa05",
                issued.daemonChallengeProof().hex());
        assertEquals(Optional.empty(), issued.problem(challenge));
    }

    @Test
    void handshake() {
        byte[] bytes = transcript.signedBytes();
        assertEquals(1501, bytes.length);
        assertEquals("8ede4ba624f83d9b8bae4a612ffda92c6f3a13b7710a557974001f45b7d7b094", digest(bytes));
        assertEquals(
                "8f3a7b23e4358d16d13a255d8841da28f3c8afaea8de423f9bf40b9ba8fffc062e24f5f5b68a2c596e0a56607eb49c7f9f7a8ec0745599981e61df0645926306",
                Proof.of(Role.MCP, mcp, transcript).signature().hex());
    }

    @Test
    void networkHint() {
        WorkerNetwork network = WorkerNetwork.sign("127.0.0.1", OptionalInt.empty(), mcp, transcript);
        byte[] bytes = WorkerNetwork.signedBytes("127.0.0.1", OptionalInt.empty(), transcript);
        assertEquals(355, bytes.length);
        assertEquals("30d745e4425704ed3867a459533a3a61188792ad0e7f3e36ff31c9f930edd2c2", digest(bytes));
        assertTrue(network.intact(transcript));
        assertFalse(new WorkerNetwork("127.0.0.1", OptionalInt.of(9), network.signature()).intact(transcript));
    }

    @Test
    void generation() {
        GenerationGrant grant = GenerationGrant.sign(
                daemon, "A".repeat(22), "worker-1", mcp.fingerprint(), "http://127.0.0.1:41000", Optional.empty());
        byte[] bytes = grant.signedBytes();
        assertEquals(325, bytes.length);
        assertEquals("c6f0478d7c9856bb033a8a66160b645268696ce8fd9ad17ce21a331a363627a9", digest(bytes));
        assertTrue(grant.intact(daemon.publicKey()));
        assertFalse(grant.intact(mcp.publicKey()));
    }

    @Test
    void payloads() {
        assertEquals(
                "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
                new SessionPayload.Release().sha256().hex());
        assertEquals(
                "5c5a87157def3cfce66bd7f509b5b5a9997537ba397d8d6fc99c2cbefd113f8f",
                new SessionPayload.Ready("worker-1").sha256().hex());
    }

    @Test
    void forgedAnswersAreNamed() {
        ReplyBody.ChallengeIssued replayed = new ReplyBody.ChallengeIssued(
                issued.daemon(),
                issued.daemonInstanceId(),
                issued.daemonPublicIdentity(),
                issued.daemonFingerprint(),
                issued.challengeId(),
                filled(32, 0x23),
                issued.issuedAtUnixMs(),
                issued.expiresAtUnixMs(),
                issued.daemonChallengeProof());
        assertTrue(replayed.problem(challenge).orElseThrow().contains("signature"));
        assertFalse(new SignedTranscript(transcript, Proof.of(Role.WORKER, mcp, transcript)).intact());
        assertFalse(new SignedTranscript(transcript, Proof.of(Role.MCP, daemon, transcript)).intact());
    }

    private static Descriptor descriptor(Role role) {
        return new Descriptor(Descriptor.SERVICE, role, ProtocolRange.CURRENT, CAPABILITIES, "1.2.3");
    }

    private static SigningKey key(int seed, String publicKey) {
        try {
            byte[] encoded = HexFormat.of().parseHex("302e020100300506032b657004220420" + "00".repeat(32));
            Arrays.fill(encoded, 16, 48, (byte) seed);
            PrivateKey key = KeyFactory.getInstance("Ed25519").generatePrivate(new PKCS8EncodedKeySpec(encoded));
            return new SigningKey(key, hex(publicKey));
        } catch (java.security.GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private static Octets filled(int length, int value) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) value);
        return Octets.of(bytes);
    }

    private static Octets hex(String text) {
        return Octets.of(HexFormat.of().parseHex(text));
    }

    private static String digest(byte[] bytes) {
        return Digest.sha256(bytes).hex();
    }
}
