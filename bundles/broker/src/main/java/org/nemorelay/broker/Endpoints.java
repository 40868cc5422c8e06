package org.nemorelay.broker;

import java.util.Optional;
import org.nemorelay.protocol.LaunchGrant;

/** The form that a worker's endpoint must have, and what a grant allows (relay-daemon 5.6). */
public final class Endpoints {
    private static final int MAX_LENGTH = 2_048;

    private Endpoints() {}

    /** An origin in its parts. */
    public record Origin(boolean https, String host, int port) {}

    /**
     * The origin that {@code text} spells: {@code http} on loopback without a root, {@code https} with one, a concrete
     * host and an explicit port, nothing else. Empty for any other text.
     */
    public static Optional<Origin> parse(String text, boolean rootPresent) {
        if (text.length() > MAX_LENGTH) {
            return Optional.empty();
        }
        boolean https = text.startsWith("https://");
        if (!https && !text.startsWith("http://")) {
            return Optional.empty();
        }
        String authority = text.substring(https ? 8 : 7);
        int colon = authority.lastIndexOf(':');
        if (colon <= 0) {
            return Optional.empty();
        }
        String host = authority.substring(0, colon);
        int port = port(authority.substring(colon + 1));
        if (port == 0 || !isHost(host) || host.equals("0.0.0.0")) {
            return Optional.empty();
        }
        boolean fits = https ? rootPresent : !rootPresent && new NetworkHint(host, 0).loopback();
        return fits ? Optional.of(new Origin(https, host, port)) : Optional.empty();
    }

    /** Whether a worker started with {@code grant} may listen at {@code endpoint}. */
    static boolean allowed(LaunchGrant grant, WorkerRegistration registration) {
        boolean loopback = grant.bindIp().equals("127.0.0.1");
        return parse(registration.endpoint(), registration.tlsRootCertificate().isPresent())
                .filter(origin -> origin.https() != loopback
                        && origin.host().equals(grant.advertiseAddress().orElse("127.0.0.1"))
                        && (grant.port() == 0 || grant.port() == origin.port()))
                .isPresent();
    }

    private static int port(String text) {
        int value = 0;
        if (text.isEmpty() || text.length() > 5) {
            return 0;
        }
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < '0' || c > '9') {
                return 0;
            }
            value = value * 10 + (c - '0');
        }
        return value <= 65_535 ? value : 0;
    }

    private static boolean isHost(String host) {
        if (host.length() > 253) {
            return false;
        }
        for (int i = 0; i < host.length(); i++) {
            char c = host.charAt(i);
            boolean letterOrDigit = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9';
            if (!letterOrDigit && c != '-' && c != '.') {
                return false;
            }
        }
        return true;
    }
}
