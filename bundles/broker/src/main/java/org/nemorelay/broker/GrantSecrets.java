package org.nemorelay.broker;

/** Fresh random texts for one launch grant: 16 and 32 bytes as base64url (relay-daemon 5.6). */
public record GrantSecrets(String activationId, String activationToken) {
    /** Makes secrets on demand; the only randomness that the broker sees. */
    @FunctionalInterface
    public interface Source {
        GrantSecrets next();
    }

    @Override
    public String toString() {
        return "GrantSecrets[" + activationId + "]";
    }
}
