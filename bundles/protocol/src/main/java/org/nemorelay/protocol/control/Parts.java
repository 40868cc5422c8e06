package org.nemorelay.protocol.control;

import java.util.Map;
import java.util.Optional;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.Digest;
import org.nemorelay.protocol.Fingerprint;

/** What frames of both directions hold, to JSON and back. */
final class Parts {
    static final int KEY = Signatures.PUBLIC_KEY_LENGTH;
    static final int NONCE = 32;
    static final int CHALLENGE_ID = 16;
    static final int U16 = 0xffff;

    private Parts() {}

    static Map<String, Object> proof(Proof proof) {
        return Json.object(
                "signer", proof.signer().word(), "signature", proof.signature().bytes());
    }

    static Map<String, Object> generationGrant(GenerationGrant grant) {
        return Json.object(
                "generation_id",
                grant.generationId(),
                "worker_id",
                grant.workerId(),
                "fingerprint",
                grant.fingerprint().digest().bytes(),
                "endpoint",
                grant.endpoint(),
                "tls_root_digest",
                grant.tlsRootDigest().isPresent() ? grant.tlsRootDigest().get().bytes() : null,
                "signature",
                grant.signature().bytes());
    }

    static Proof proof(JsonObject proof) {
        return new Proof(role(proof, "signer"), octets(proof, "signature"));
    }

    static Descriptor descriptor(JsonObject descriptor) {
        JsonObject protocol = descriptor.object("protocol");
        return new Descriptor(
                descriptor.string("service"),
                role(descriptor, "role"),
                new ProtocolRange((int) protocol.integer("minimum", 0, U16), (int) protocol.integer("maximum", 0, U16)),
                descriptor.strings("capabilities"),
                descriptor.string("binary_version"));
    }

    static GenerationGrant generationGrant(JsonObject grant) {
        return new GenerationGrant(
                grant.string("generation_id"),
                grant.string("worker_id"),
                fingerprint(grant, "fingerprint"),
                grant.string("endpoint"),
                optionalDigest(grant, "tls_root_digest"),
                octets(grant, "signature"));
    }

    static Role role(JsonObject object, String key) {
        Optional<Role> role = Role.of(object.string(key));
        if (role.isEmpty()) {
            throw new JsonException(key + " is not a known role");
        }
        return role.get();
    }

    static Octets octets(JsonObject object, String key) {
        return Octets.of(object.bytes(key));
    }

    static Octets octets(JsonObject object, String key, int length) {
        return Octets.of(object.bytes(key, length));
    }

    static Fingerprint fingerprint(JsonObject object, String key) {
        return new Fingerprint(Digest.of(object.bytes(key, Digest.LENGTH)));
    }

    static Optional<Digest> optionalDigest(JsonObject object, String key) {
        return object.has(key) ? Optional.of(Digest.of(object.bytes(key, Digest.LENGTH))) : Optional.empty();
    }
}
