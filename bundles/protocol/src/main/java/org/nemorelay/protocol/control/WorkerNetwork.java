package org.nemorelay.protocol.control;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * Where a worker of this user can be reached, signed by the MCP process (relay-daemon 3.2, 3.4).
 *
 * @param advertisedHost concrete IPv4 address or DNS name, lower case
 * @param port the only port the worker may use, or none for any
 */
public record WorkerNetwork(String advertisedHost, OptionalInt port, Octets signature) {
    private static final String DOMAIN = "nemo-relay/worker-network-hint/v1";
    private static final int MAX_HOST = 253;
    private static final int MAX_LABEL = 63;

    /** The hint, bound to one registration. */
    public static WorkerNetwork sign(String advertisedHost, OptionalInt port, SigningKey key, Transcript transcript) {
        return new WorkerNetwork(advertisedHost, port, key.sign(signedBytes(advertisedHost, port, transcript)));
    }

    /** Whether the transcript's initiator signed this hint for that registration. */
    public boolean intact(Transcript transcript) {
        return intact(transcript, Signatures.JDK);
    }

    /** The same, looked at by that implementation. */
    public boolean intact(Transcript transcript, SignatureScheme scheme) {
        return scheme.verify(
                transcript.initiatorPublicIdentity(), signedBytes(advertisedHost, port, transcript), signature);
    }

    /** Why the hint cannot be used, or nothing. */
    public Optional<String> problem() {
        if (port.isPresent() && (port.getAsInt() < 1 || port.getAsInt() > 0xffff)) {
            return Optional.of("a worker port must be from 1 to 65535");
        }
        return hostProblem(advertisedHost);
    }

    /** Why a worker cannot be advertised under this host, or nothing. */
    public static Optional<String> hostProblem(String host) {
        if (host.isEmpty() || host.length() > MAX_HOST) {
            return Optional.of("an advertised host must have 1 to " + MAX_HOST + " characters");
        }
        if (host.equals("0.0.0.0")) {
            return Optional.of("0.0.0.0 is a bind address and cannot be advertised");
        }
        int labelStart = 0;
        for (int i = 0; i <= host.length(); i++) {
            if (i == host.length() || host.charAt(i) == '.') {
                int length = i - labelStart;
                if (length < 1 || length > MAX_LABEL || host.charAt(labelStart) == '-' || host.charAt(i - 1) == '-') {
                    return Optional.of("the advertised host is neither an IPv4 address nor a DNS name");
                }
                labelStart = i + 1;
            } else if (!hostCharacter(host.charAt(i))) {
                return Optional.of("the advertised host is neither an IPv4 address nor a lower-case DNS name");
            }
        }
        return Optional.empty();
    }

    private static boolean hostCharacter(char c) {
        return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-';
    }

    static byte[] signedBytes(String host, OptionalInt port, Transcript transcript) {
        return new SignedBytes(DOMAIN, 7)
                .field("daemon_target", transcript.daemonTarget())
                .field("mcp_instance_id", transcript.initiatorInstanceId())
                .field("challenge_id", transcript.challengeId().bytes())
                .field("fingerprint", transcript.initiatorFingerprint().digest().bytes())
                .field("advertised_host", host)
                .flag("port_present", port.isPresent())
                .u16("port", port.orElse(0))
                .bytes();
    }
}
