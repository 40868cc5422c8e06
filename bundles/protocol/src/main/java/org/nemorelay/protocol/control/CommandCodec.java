package org.nemorelay.protocol.control;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.Digest;
import org.nemorelay.protocol.TokenDigest;

/** What clients send to the daemon, to JSON and back. */
final class CommandCodec {
    private CommandCodec() {}

    static Map<String, Object> json(ClientCommand command) {
        // Tests in a row: see Json.write.
        if (command instanceof ClientCommand.Acknowledge acknowledge) {
            return command("acknowledge", Json.object("request_id", acknowledge.requestId()));
        }
        if (command instanceof ClientCommand.Session(SessionRequest request)) {
            return command(request.payload().type(), sessionRequest(request));
        }
        if (command instanceof ClientCommand.Challenge challenge) {
            return command("challenge", challenge(challenge));
        }
        if (command instanceof ClientCommand.RegisterMcp register) {
            WorkerNetwork network = register.workerNetwork();
            Map<String, Object> hint = Json.object(
                    "advertised_host",
                    network.advertisedHost(),
                    "port",
                    network.port().isPresent() ? network.port().getAsInt() : null);
            return command(
                    "register_mcp",
                    Json.object(
                            "request",
                            Json.object(
                                    "proof",
                                    signedTranscript(register.proof()),
                                    "worker_network",
                                    Json.object(
                                            "hint",
                                            hint,
                                            "signature",
                                            network.signature().bytes())),
                            "credential",
                            register.credential().text()));
        }
        if (command instanceof ClientCommand.RegisterWorker register) {
            return command(
                    "register_worker",
                    Json.object(
                            "proof",
                            signedTranscript(register.proof()),
                            "worker_id",
                            register.workerId(),
                            "endpoint",
                            register.endpoint(),
                            "activation_id",
                            register.activationId(),
                            "activation_token",
                            register.activationToken().text(),
                            "tls_root_certificate",
                            register.tlsRootCertificate().orElse(null)));
        }
        ClientCommand.RecoverWorker recover = (ClientCommand.RecoverWorker) command;
        return command(
                "recover_worker",
                Json.object(
                        "proof",
                        signedTranscript(recover.proof()),
                        "worker_id",
                        recover.workerId(),
                        "endpoint",
                        recover.endpoint(),
                        "tls_root_certificate",
                        recover.tlsRootCertificate().orElse(null),
                        "generation_grant",
                        Parts.generationGrant(recover.generationGrant())));
    }

    private static Map<String, Object> command(String type, Map<String, Object> payload) {
        return Json.object("type", type, "payload", payload);
    }

    private static Map<String, Object> challenge(ClientCommand.Challenge challenge) {
        return Json.object(
                "initiator",
                challenge.initiator().json(),
                "initiator_instance_id",
                challenge.initiatorInstanceId(),
                "initiator_public_identity",
                challenge.initiatorPublicIdentity().bytes(),
                "initiator_fingerprint",
                challenge.initiatorFingerprint().digest().bytes(),
                "initiator_nonce",
                challenge.initiatorNonce().bytes());
    }

    private static Map<String, Object> sessionRequest(SessionRequest request) {
        return Json.object(
                "session_id",
                request.sessionId(),
                "session_token",
                request.sessionToken().text(),
                "request_id",
                request.requestId(),
                "sequence",
                Wire.unsigned(request.sequence()),
                "payload_sha256",
                request.payloadSha256().bytes(),
                "payload",
                request.payload().json());
    }

    private static Map<String, Object> signedTranscript(SignedTranscript signed) {
        Transcript transcript = signed.transcript();
        Map<String, Object> json = Json.object(
                "daemon_target",
                transcript.daemonTarget(),
                "initiator",
                transcript.initiator().json(),
                "responder",
                transcript.responder().json(),
                "initiator_instance_id",
                transcript.initiatorInstanceId(),
                "responder_instance_id",
                transcript.responderInstanceId(),
                "selected_protocol",
                transcript.selectedProtocol(),
                "initiator_public_identity",
                transcript.initiatorPublicIdentity().bytes(),
                "responder_public_identity",
                transcript.responderPublicIdentity().bytes(),
                "initiator_fingerprint",
                transcript.initiatorFingerprint().digest().bytes(),
                "responder_fingerprint",
                transcript.responderFingerprint().digest().bytes(),
                "challenge_id",
                transcript.challengeId().bytes(),
                "initiator_nonce",
                transcript.initiatorNonce().bytes(),
                "responder_nonce",
                transcript.responderNonce().bytes(),
                "route_token_digest",
                transcript.routeTokenDigest().isPresent()
                        ? transcript.routeTokenDigest().get().digest().bytes()
                        : null);
        return Json.object("transcript", json, "initiator_proof", Parts.proof(signed.initiatorProof()));
    }

    static ClientCommand command(JsonObject command) {
        String type = command.string("type");
        JsonObject payload = command.object("payload");
        return switch (type) {
            case "challenge" ->
                new ClientCommand.Challenge(
                        Parts.descriptor(payload.object("initiator")),
                        payload.string("initiator_instance_id"),
                        Parts.octets(payload, "initiator_public_identity", Parts.KEY),
                        Parts.fingerprint(payload, "initiator_fingerprint"),
                        Parts.octets(payload, "initiator_nonce", Parts.NONCE));
            case "register_mcp" -> {
                JsonObject request = payload.object("request");
                JsonObject network = request.object("worker_network");
                JsonObject hint = network.object("hint");
                yield new ClientCommand.RegisterMcp(
                        signedTranscript(request.object("proof")),
                        new WorkerNetwork(
                                hint.string("advertised_host"),
                                hint.has("port")
                                        ? OptionalInt.of((int) hint.integer("port", 0, Parts.U16))
                                        : OptionalInt.empty(),
                                Parts.octets(network, "signature")),
                        new Secret(payload.string("credential")));
            }
            case "register_worker" ->
                new ClientCommand.RegisterWorker(
                        signedTranscript(payload.object("proof")),
                        payload.string("worker_id"),
                        payload.string("endpoint"),
                        payload.string("activation_id"),
                        new Secret(payload.string("activation_token")),
                        payload.optionalString("tls_root_certificate"));
            case "recover_worker" ->
                new ClientCommand.RecoverWorker(
                        signedTranscript(payload.object("proof")),
                        payload.string("worker_id"),
                        payload.string("endpoint"),
                        payload.optionalString("tls_root_certificate"),
                        Parts.generationGrant(payload.object("generation_grant")));
            case "acknowledge" -> new ClientCommand.Acknowledge(payload.string("request_id"));
            default ->
                new ClientCommand.Session(new SessionRequest(
                        payload.string("session_id"),
                        new Secret(payload.string("session_token")),
                        payload.string("request_id"),
                        payload.unsigned64("sequence"),
                        Digest.of(payload.bytes("payload_sha256", Digest.LENGTH)),
                        sessionPayload(type, payload.object("payload"))));
        };
    }

    private static SessionPayload sessionPayload(String type, JsonObject payload) {
        return switch (type) {
            case "ready" -> new SessionPayload.Ready(payload.string("worker_id"));
            case "release" -> new SessionPayload.Release();
            case "leave" -> new SessionPayload.Leave();
            case "activation_failed" ->
                new SessionPayload.ActivationFailed(
                        payload.string("activation_id"), ActivationFailure.of(payload.string("reason")));
            case "cancel_activation" -> new SessionPayload.CancelActivation(payload.string("activation_id"));
            case "report_plugins" -> {
                List<PluginReport> plugins = new ArrayList<>();
                for (JsonObject plugin : payload.objects("plugins")) {
                    plugins.add(new PluginReport(
                            plugin.string("kind"),
                            plugin.string("version"),
                            plugin.string("state"),
                            plugin.string("file"),
                            plugin.string("reason"),
                            plugin.has("planned") ? plugin.string("planned") : "",
                            plugin.has("outdated") && plugin.bool("outdated")));
                }
                List<SettingReport> settings = new ArrayList<>();
                // A worker that has not been updated yet says nothing of these.
                for (JsonObject one : payload.has("settings") ? payload.objects("settings") : List.<JsonObject>of()) {
                    settings.add(new SettingReport(one.string("name"), one.string("value"), one.string("source")));
                }
                yield new SessionPayload.ReportPlugins(plugins, settings);
            }
            default -> throw new JsonException("command.type is not a known command");
        };
    }

    private static SignedTranscript signedTranscript(JsonObject proof) {
        JsonObject transcript = proof.object("transcript");
        return new SignedTranscript(
                new Transcript(
                        transcript.string("daemon_target"),
                        Parts.descriptor(transcript.object("initiator")),
                        Parts.descriptor(transcript.object("responder")),
                        transcript.string("initiator_instance_id"),
                        transcript.string("responder_instance_id"),
                        (int) transcript.integer("selected_protocol", 0, Parts.U16),
                        Parts.octets(transcript, "initiator_public_identity", Parts.KEY),
                        Parts.octets(transcript, "responder_public_identity", Parts.KEY),
                        Parts.fingerprint(transcript, "initiator_fingerprint"),
                        Parts.fingerprint(transcript, "responder_fingerprint"),
                        Parts.octets(transcript, "challenge_id", Parts.CHALLENGE_ID),
                        Parts.octets(transcript, "initiator_nonce", Parts.NONCE),
                        Parts.octets(transcript, "responder_nonce", Parts.NONCE),
                        Parts.optionalDigest(transcript, "route_token_digest").map(TokenDigest::new)),
                Parts.proof(proof.object("initiator_proof")));
    }
}
