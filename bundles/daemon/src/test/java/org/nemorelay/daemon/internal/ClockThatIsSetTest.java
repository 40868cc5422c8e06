package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.RouteToken;
import org.nemorelay.protocol.control.ClientCommand;
import org.nemorelay.protocol.control.Descriptor;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.protocol.control.Proof;
import org.nemorelay.protocol.control.Role;
import org.nemorelay.protocol.control.Signatures;
import org.nemorelay.protocol.control.SignedTranscript;
import org.nemorelay.protocol.control.SigningKey;
import org.nemorelay.protocol.control.Transcript;

/** A challenge lives for its 15 s, however the clock is set meanwhile. */
class ClockThatIsSetTest {
    private static final DaemonUrl URL = new DaemonUrl(false, "127.0.0.1", 1);
    private static final long HOUR_MS = 3_600_000;
    private static final long CHALLENGE_MS = 15_000;

    private final Ids ids = new Ids();
    private final Time time = new Time();
    private final SigningKey key = FramePeer.newKey();
    private final Handshake handshake = new Handshake(FramePeer.newKey(), Signatures.JDK, ids.uuid7(), ids, time);

    private static final class Time implements Clock {
        private long passed = 1_000;
        private long unix = 1_800_000_000_000L;

        @Override
        public long monotonicMs() {
            return passed;
        }

        @Override
        public long unixMs() {
            return unix;
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {HOUR_MS, -HOUR_MS})
    void settingItNeitherEndsAChallengeNorKeepsIt(long by) {
        handshake.serve(URL);
        Handshake.Pending pending = challenged();
        assertEquals(
                CHALLENGE_MS,
                pending.issued().expiresAtUnixMs() - pending.issued().issuedAtUnixMs());
        time.unix += by;
        time.passed += CHALLENGE_MS - 1;
        assertEquals(Optional.empty(), handshake.problem(pending, proof(pending)));
        time.passed++;
        assertEquals(
                401, handshake.problem(pending, proof(pending)).orElseThrow().status());
    }

    private Handshake.Pending challenged() {
        return handshake
                .challenge(
                        Role.MCP,
                        new ClientCommand.Challenge(
                                Descriptor.ours(Role.MCP),
                                ids.uuid7(),
                                key.publicKey(),
                                key.fingerprint(),
                                ids.octets(32)))
                .pending()
                .orElseThrow();
    }

    private SignedTranscript proof(Handshake.Pending pending) {
        RouteToken token = RouteToken.parse(ids.secret().text()).orElseThrow();
        Transcript transcript =
                Transcript.of(URL.origin(), pending.request(), pending.issued(), 1, Optional.of(token.digest()));
        return new SignedTranscript(transcript, Proof.of(Role.MCP, key, transcript));
    }
}
