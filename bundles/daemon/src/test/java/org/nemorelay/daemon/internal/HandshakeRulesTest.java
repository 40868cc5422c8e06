package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.Digest;
import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.control.Capabilities;
import org.nemorelay.protocol.control.ClientCommand;
import org.nemorelay.protocol.control.Descriptor;
import org.nemorelay.protocol.control.GenerationGrant;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.protocol.control.Proof;
import org.nemorelay.protocol.control.ProtocolRange;
import org.nemorelay.protocol.control.Role;
import org.nemorelay.protocol.control.Signatures;
import org.nemorelay.protocol.control.SignedTranscript;
import org.nemorelay.protocol.control.SigningKey;
import org.nemorelay.protocol.control.Transcript;

/** Each rule of the handshake alone (relay-daemon 3.7): what breaks one in one point is refused for that. */
class HandshakeRulesTest {
    private static final DaemonUrl URL = DaemonUrl.parse("http://127.0.0.1:47632");
    private static final String ENDPOINT = "https://worker.test:4711";
    private static final Optional<String> ROOT = Optional.of("cm9vdA");

    private final Ids ids = new Ids();
    private final SigningKey daemonKey = FramePeer.newKey();
    private final SigningKey key = FramePeer.newKey();
    private final String id = ids.uuid7();
    private Handshake handshake;

    @BeforeEach
    void start() {
        handshake = new Handshake(daemonKey, Signatures.JDK, ids.uuid7(), ids, Clock.SYSTEM);
        handshake.serve(URL);
    }

    private ClientCommand.Challenge challenge(Descriptor descriptor, String instance, Fingerprint fingerprint) {
        return new ClientCommand.Challenge(descriptor, instance, key.publicKey(), fingerprint, ids.octets(32));
    }

    private ClientCommand.Challenge challenge(Role role) {
        return challenge(Descriptor.ours(role), id, key.fingerprint());
    }

    private static Descriptor descriptor(String service, ProtocolRange protocol, List<String> capabilities) {
        return new Descriptor(service, Role.MCP, protocol, capabilities, "1");
    }

    private int status(ClientCommand.Challenge request) {
        Handshake.Answer answer = handshake.challenge(Role.MCP, request);
        answer.pending().ifPresent(unused -> handshake.forget(Role.MCP));
        return answer.failure().map(ControlFailure::status).orElse(200);
    }

    @Test
    void aChallengeIsRefusedForEachOfItsParts() {
        assertEquals(200, status(challenge(Role.MCP)));
        assertEquals(401, status(challenge(Role.WORKER)), "of another role");
        assertEquals(401, status(challenge(Descriptor.ours(Role.MCP), "", key.fingerprint())));
        assertEquals(200, status(challenge(Descriptor.ours(Role.MCP), "i".repeat(256), key.fingerprint())));
        assertEquals(401, status(challenge(Descriptor.ours(Role.MCP), "i".repeat(257), key.fingerprint())));
        assertEquals(
                401,
                status(challenge(
                        Descriptor.ours(Role.MCP), id, FramePeer.newKey().fingerprint())));
        assertEquals(
                401,
                status(challenge(descriptor("other", ProtocolRange.CURRENT, Capabilities.OURS), id, key.fingerprint())),
                "another product's descriptor");
        assertEquals(
                426,
                status(challenge(
                        descriptor(Descriptor.SERVICE, new ProtocolRange(2, 3), Capabilities.OURS),
                        id,
                        key.fingerprint())));
    }

    @Test
    void noMoreChallengesArePendingThanEachRoleMayHave() {
        for (Role role : List.of(Role.MCP, Role.WORKER)) {
            int limit = role == Role.MCP ? 384 : 128;
            for (int i = 0; i < limit; i++) {
                assertTrue(handshake.challenge(role, challenge(role)).pending().isPresent());
            }
            assertEquals(
                    429,
                    handshake
                            .challenge(role, challenge(role))
                            .failure()
                            .orElseThrow()
                            .status());
            handshake.forget(role);
            assertTrue(handshake.challenge(role, challenge(role)).pending().isPresent());
        }
    }

    private Handshake.Pending pending(Role role) {
        return handshake.challenge(role, challenge(role)).pending().orElseThrow();
    }

    private int proofStatus(Handshake.Pending pending, Transcript transcript, SigningKey signer) {
        SignedTranscript proof = new SignedTranscript(transcript, Proof.of(Role.WORKER, signer, transcript));
        return handshake.problem(pending, proof).map(ControlFailure::status).orElse(200);
    }

    private Transcript transcript(String target, Handshake.Pending pending, int protocol) {
        return Transcript.of(target, pending.request(), pending.issued(), protocol, Optional.empty());
    }

    @Test
    void aProofIsRefusedForEachOfItsParts() {
        Handshake.Pending pending = pending(Role.WORKER);
        Transcript right = transcript(URL.origin(), pending, 1);
        assertEquals(200, proofStatus(pending, right, key));
        assertEquals(401, proofStatus(pending, right, FramePeer.newKey()), "signed by another key");
        assertEquals(401, proofStatus(pending(Role.WORKER), right, key), "of another challenge");
        assertEquals(401, proofStatus(pending, transcript(URL.origin(), pending, 2), key), "of another version");
    }

    /** On loopback the address has several spellings, and only there. */
    @Test
    void aProofIsForTheAddressOfThisDaemon() {
        List<String> refused = new ArrayList<>();
        Handshake.Pending pending = pending(Role.WORKER);
        for (String target : List.of(
                "http://localhost:47632",
                "http://127.0.0.1:47633",
                "https://127.0.0.1:47632",
                "http://127.0.0.1:47632/",
                "http://LOCALHOST:47632",
                "https://relay.test:47632",
                "nonsense")) {
            if (proofStatus(pending, transcript(target, pending, 1), key) != 200) {
                refused.add(target);
            }
        }
        assertEquals(
                List.of(
                        "http://127.0.0.1:47633",
                        "https://127.0.0.1:47632",
                        "http://127.0.0.1:47632/",
                        "http://LOCALHOST:47632",
                        "https://relay.test:47632",
                        "nonsense"),
                refused);
        handshake.serve(DaemonUrl.parse("https://relay.test:47632"));
        assertEquals(200, proofStatus(pending, transcript("https://relay.test:47632", pending, 1), key));
        assertEquals(401, proofStatus(pending, transcript("https://127.0.0.1:47632", pending, 1), key));
    }

    private static Optional<Digest> digest(Optional<String> root) {
        return root.map(text -> Digest.sha256(text.getBytes(StandardCharsets.US_ASCII)));
    }

    private GenerationGrant grant(String worker, SigningKey owner, String endpoint, Optional<String> root) {
        return GenerationGrant.sign(daemonKey, "g", worker, owner.fingerprint(), endpoint, digest(root));
    }

    private boolean recovers(GenerationGrant grant) {
        Handshake.Pending pending = pending(Role.WORKER);
        Transcript transcript = transcript(URL.origin(), pending, 1);
        SignedTranscript proof = new SignedTranscript(transcript, Proof.of(Role.WORKER, key, transcript));
        return handshake
                .problem(new ClientCommand.RecoverWorker(proof, id, ENDPOINT, ROOT, grant))
                .isEmpty();
    }

    @Test
    void aGrantIsGoodForItsWorkerUserEndpointAndRootAlone() {
        assertTrue(recovers(grant(id, key, ENDPOINT, ROOT)));
        List<GenerationGrant> wrong = List.of(
                grant(ids.uuid7(), key, ENDPOINT, ROOT),
                grant(id, FramePeer.newKey(), ENDPOINT, ROOT),
                grant(id, key, "https://worker.test:4712", ROOT),
                grant(id, key, ENDPOINT, Optional.empty()),
                grant(id, key, ENDPOINT, Optional.of("b3RoZXI")),
                GenerationGrant.sign(FramePeer.newKey(), "g", id, key.fingerprint(), ENDPOINT, digest(ROOT)));
        for (GenerationGrant grant : wrong) {
            assertEquals(false, recovers(grant), grant.toString());
        }
    }
}
