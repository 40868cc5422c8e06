package org.nemorelay.protocol;

/** SHA-256 of a raw Ed25519 public key: the name of one user on one machine (relay-daemon 3.1). */
public record Fingerprint(Digest digest) implements Comparable<Fingerprint> {
    public static Fingerprint ofPublicKey(byte[] raw) {
        return new Fingerprint(Digest.sha256(raw));
    }

    public String hex() {
        return digest.hex();
    }

    @Override
    public int compareTo(Fingerprint other) {
        return digest.compareTo(other.digest);
    }

    @Override
    public String toString() {
        return hex();
    }
}
