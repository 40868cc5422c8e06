package org.nemorelay.protocol.control;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.Digest;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.TokenDigest;

/**
 * Control frames to text and back (relay-daemon 3.1, 3.4, 3.6). Unknown fields are ignored, optional ones may be missing;
 * everything else that does not fit is a {@link FrameException}. Decoding says nothing about signatures and limits of
 * the values: see {@code problem()} and {@code intact()} of the records. Stateless; safe for any thread.
 */
public final class FrameCodec {
    /** Bytes of the largest message. */
    public static final int MAX_FRAME = 262_144;

    private static final int KEY = Signatures.PUBLIC_KEY_LENGTH;
    private static final int NONCE = 32;
    private static final int CHALLENGE_ID = 16;
    private static final int U16 = 0xffff;

    private FrameCodec() {}

    public static String encode(CommandFrame frame) {
        return sized(Json.write(Json.object("request_id", frame.requestId(), "command", command(frame.command()))));
    }

    public static String encode(ServerEvent event) {
        return sized(Json.write(event(event)));
    }

    public static CommandFrame decodeCommand(String text) {
        JsonObject frame = frame(text);
        try {
            String requestId = requestId(frame);
            JsonObject command = frame.object("command");
            return new CommandFrame(requestId, command(command.string("type"), command));
        } catch (JsonException e) {
            throw malformed(e);
        }
    }

    public static ServerEvent decodeEvent(String text) {
        JsonObject frame = frame(text);
        try {
            String requestId = requestId(frame);
            String type = frame.string("type");
            return switch (type) {
                case "reply" -> {
                    int status = (int) frame.integer("status", 100, 599);
                    yield new ServerEvent.Reply(
                            requestId, status, replyBody(status, frame.values().get("payload")));
                }
                case "directive" -> new ServerEvent.DirectiveIssued(requestId, directive(frame.object("directive")));
                case "drain" -> {
                    JsonObject request = frame.object("request");
                    yield new ServerEvent.Drain(
                            requestId,
                            request.string("worker_id"),
                            request.unsigned64("deadline_unix_ms"),
                            request.integer("timeout_ms", 0, Long.MAX_VALUE));
                }
                case "worker_unreachable" ->
                    new ServerEvent.WorkerUnreachable(requestId, frame.string("endpoint"), frame.string("reason"));
                default -> throw new JsonException("type is not one of reply, directive, drain, worker_unreachable");
            };
        } catch (JsonException e) {
            throw malformed(e);
        }
    }

    private static JsonObject frame(String text) {
        sized(text);
        try {
            JsonObject frame = Json.parseObject(text);
            // Only an escape can name half a character, which no UTF-8 text holds: it could not be sent back.
            if (text.contains("\\u") && !Wire.whole(frame.values())) {
                throw new JsonException("a string holds half a surrogate pair");
            }
            return frame;
        } catch (JsonException e) {
            throw malformed(e);
        }
    }

    private static String sized(String text) {
        if (!Wire.within(text, MAX_FRAME)) {
            throw new FrameException(
                    FrameException.Reason.TOO_LARGE, "a control frame must have 1 to " + MAX_FRAME + " bytes");
        }
        return text;
    }

    private static String requestId(JsonObject frame) {
        String requestId = frame.string("request_id");
        if (!Wire.within(requestId, Wire.MAX_ID)) {
            throw new FrameException(
                    FrameException.Reason.INVALID_REQUEST_ID, "request_id must have 1 to " + Wire.MAX_ID + " bytes");
        }
        return requestId;
    }

    private static FrameException malformed(JsonException e) {
        return new FrameException(FrameException.Reason.MALFORMED, e.getMessage());
    }

    // ---- client to daemon

    private static Map<String, Object> command(ClientCommand command) {
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
                        generationGrant(recover.generationGrant())));
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
        return Json.object("transcript", json, "initiator_proof", proof(signed.initiatorProof()));
    }

    private static Map<String, Object> proof(Proof proof) {
        return Json.object(
                "signer", proof.signer().word(), "signature", proof.signature().bytes());
    }

    private static Map<String, Object> generationGrant(GenerationGrant grant) {
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

    private static ClientCommand command(String type, JsonObject command) {
        JsonObject payload = command.object("payload");
        return switch (type) {
            case "challenge" ->
                new ClientCommand.Challenge(
                        descriptor(payload.object("initiator")),
                        payload.string("initiator_instance_id"),
                        octets(payload, "initiator_public_identity", KEY),
                        fingerprint(payload, "initiator_fingerprint"),
                        octets(payload, "initiator_nonce", NONCE));
            case "register_mcp" -> {
                JsonObject request = payload.object("request");
                JsonObject network = request.object("worker_network");
                JsonObject hint = network.object("hint");
                yield new ClientCommand.RegisterMcp(
                        signedTranscript(request.object("proof")),
                        new WorkerNetwork(
                                hint.string("advertised_host"),
                                hint.has("port")
                                        ? OptionalInt.of((int) hint.integer("port", 0, U16))
                                        : OptionalInt.empty(),
                                octets(network, "signature")),
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
                        generationGrant(payload.object("generation_grant")));
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
                            plugin.has("planned") ? plugin.string("planned") : ""));
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
                        descriptor(transcript.object("initiator")),
                        descriptor(transcript.object("responder")),
                        transcript.string("initiator_instance_id"),
                        transcript.string("responder_instance_id"),
                        (int) transcript.integer("selected_protocol", 0, U16),
                        octets(transcript, "initiator_public_identity", KEY),
                        octets(transcript, "responder_public_identity", KEY),
                        fingerprint(transcript, "initiator_fingerprint"),
                        fingerprint(transcript, "responder_fingerprint"),
                        octets(transcript, "challenge_id", CHALLENGE_ID),
                        octets(transcript, "initiator_nonce", NONCE),
                        octets(transcript, "responder_nonce", NONCE),
                        optionalDigest(transcript, "route_token_digest").map(TokenDigest::new)),
                proof(proof.object("initiator_proof")));
    }

    private static Proof proof(JsonObject proof) {
        return new Proof(role(proof, "signer"), octets(proof, "signature"));
    }

    private static Descriptor descriptor(JsonObject descriptor) {
        JsonObject protocol = descriptor.object("protocol");
        return new Descriptor(
                descriptor.string("service"),
                role(descriptor, "role"),
                new ProtocolRange((int) protocol.integer("minimum", 0, U16), (int) protocol.integer("maximum", 0, U16)),
                descriptor.strings("capabilities"),
                descriptor.string("binary_version"));
    }

    private static GenerationGrant generationGrant(JsonObject grant) {
        return new GenerationGrant(
                grant.string("generation_id"),
                grant.string("worker_id"),
                fingerprint(grant, "fingerprint"),
                grant.string("endpoint"),
                optionalDigest(grant, "tls_root_digest"),
                octets(grant, "signature"));
    }

    // ---- daemon to client

    private static Map<String, Object> event(ServerEvent event) {
        if (event instanceof ServerEvent.Reply reply) {
            return Json.object(
                    "type",
                    "reply",
                    "request_id",
                    reply.requestId(),
                    "status",
                    reply.status(),
                    "payload",
                    payload(reply.body()));
        }
        if (event instanceof ServerEvent.DirectiveIssued issued) {
            return Json.object(
                    "type", "directive", "request_id", issued.requestId(), "directive", directive(issued.directive()));
        }
        if (event instanceof ServerEvent.WorkerUnreachable unreachable) {
            return Json.object(
                    "type",
                    "worker_unreachable",
                    "request_id",
                    unreachable.requestId(),
                    "endpoint",
                    unreachable.endpoint(),
                    "reason",
                    unreachable.reason());
        }
        ServerEvent.Drain drain = (ServerEvent.Drain) event;
        return Json.object(
                "type",
                "drain",
                "request_id",
                drain.requestId(),
                "request",
                Json.object(
                        "worker_id",
                        drain.workerId(),
                        "deadline_unix_ms",
                        Wire.unsigned(drain.deadlineUnixMs()),
                        "timeout_ms",
                        drain.timeoutMs()));
    }

    private static Object payload(ReplyBody body) {
        return switch (body) {
            case ReplyBody.Empty() -> null;
            case ReplyBody.ChallengeIssued issued ->
                Json.object(
                        "daemon",
                        issued.daemon().json(),
                        "daemon_instance_id",
                        issued.daemonInstanceId(),
                        "daemon_public_identity",
                        issued.daemonPublicIdentity().bytes(),
                        "daemon_fingerprint",
                        issued.daemonFingerprint().digest().bytes(),
                        "challenge",
                        Json.object(
                                "id",
                                issued.challengeId().bytes(),
                                "nonce",
                                issued.challengeNonce().bytes(),
                                "issued_at_unix_ms",
                                Wire.unsigned(issued.issuedAtUnixMs()),
                                "expires_at_unix_ms",
                                Wire.unsigned(issued.expiresAtUnixMs())),
                        "daemon_challenge_proof",
                        issued.daemonChallengeProof().bytes());
            case ReplyBody.McpRegistered registered ->
                Json.object(
                        "daemon_proof",
                        proof(registered.daemonProof()),
                        "session_token",
                        registered.sessionToken().text(),
                        "directive",
                        directive(registered.directive()));
            case ReplyBody.WorkerRegistered registered ->
                Json.object(
                        "daemon_proof",
                        proof(registered.daemonProof()),
                        "session_token",
                        registered.sessionToken().text(),
                        "data_token",
                        registered.dataToken().text(),
                        "generation_grant",
                        generationGrant(registered.generationGrant()));
            case ReplyBody.ActivationCancelled(CancelOutcome outcome) -> outcome.word();
            case ReplyBody.Failure(String message, Optional<String> code) -> {
                Map<String, Object> error = Json.object("message", message);
                code.ifPresent(value -> error.put("code", value));
                yield Json.object("error", error);
            }
        };
    }

    private static Map<String, Object> directive(Directive directive) {
        return switch (directive) {
            case Directive.ReuseWorker(String endpoint) ->
                Json.object("directive", "reuse_worker", "endpoint", endpoint);
            case Directive.WaitForWorker(long retryAfterMs) ->
                Json.object("directive", "wait_for_worker", "retry_after_ms", retryAfterMs);
            case Directive.LaunchWorker(LaunchGrant grant) -> {
                Map<String, Object> json = Json.object("directive", "launch_worker");
                json.putAll(grant.json());
                yield json;
            }
            case Directive.UsePassThrough() -> Json.object("directive", "use_pass_through");
        };
    }

    private static ReplyBody replyBody(int status, Object payload) {
        if (status >= 400) {
            return failure(status, payload);
        }
        if (payload instanceof String word) {
            Optional<CancelOutcome> outcome = CancelOutcome.of(word);
            if (outcome.isEmpty()) {
                throw new JsonException("payload is not a known outcome");
            }
            return new ReplyBody.ActivationCancelled(outcome.get());
        }
        if (!(payload instanceof Map<?, ?>)) {
            return new ReplyBody.Empty();
        }
        JsonObject object = JsonObject.of(payload, "payload");
        if (object.has("challenge")) {
            JsonObject challenge = object.object("challenge");
            return new ReplyBody.ChallengeIssued(
                    descriptor(object.object("daemon")),
                    object.string("daemon_instance_id"),
                    octets(object, "daemon_public_identity", KEY),
                    fingerprint(object, "daemon_fingerprint"),
                    octets(challenge, "id", CHALLENGE_ID),
                    octets(challenge, "nonce", NONCE),
                    challenge.unsigned64("issued_at_unix_ms"),
                    challenge.unsigned64("expires_at_unix_ms"),
                    octets(object, "daemon_challenge_proof"));
        }
        if (object.has("generation_grant")) {
            return new ReplyBody.WorkerRegistered(
                    proof(object.object("daemon_proof")),
                    new Secret(object.string("session_token")),
                    new Secret(object.string("data_token")),
                    generationGrant(object.object("generation_grant")));
        }
        if (object.has("directive")) {
            return new ReplyBody.McpRegistered(
                    proof(object.object("daemon_proof")),
                    new Secret(object.string("session_token")),
                    directive(object.object("directive")));
        }
        return new ReplyBody.Empty();
    }

    private static ReplyBody failure(int status, Object payload) {
        if (payload instanceof Map<?, ?> map && map.get("error") instanceof Map<?, ?> error) {
            String message = error.get("message") instanceof String text ? text : "status " + status;
            return new ReplyBody.Failure(
                    message, error.get("code") instanceof String code ? Optional.of(code) : Optional.empty());
        }
        return new ReplyBody.Failure("status " + status, Optional.empty());
    }

    private static Directive directive(JsonObject directive) {
        String word = directive.string("directive");
        return switch (word) {
            case "reuse_worker" -> new Directive.ReuseWorker(directive.string("endpoint"));
            case "wait_for_worker" ->
                new Directive.WaitForWorker(directive.integer("retry_after_ms", 0, Long.MAX_VALUE));
            case "launch_worker" -> new Directive.LaunchWorker(LaunchGrant.of(directive));
            case "use_pass_through" -> new Directive.UsePassThrough();
            default -> throw new JsonException("directive is not a known directive");
        };
    }

    private static Role role(JsonObject object, String key) {
        Optional<Role> role = Role.of(object.string(key));
        if (role.isEmpty()) {
            throw new JsonException(key + " is not a known role");
        }
        return role.get();
    }

    private static Octets octets(JsonObject object, String key) {
        return Octets.of(object.bytes(key));
    }

    private static Octets octets(JsonObject object, String key, int length) {
        return Octets.of(object.bytes(key, length));
    }

    private static Fingerprint fingerprint(JsonObject object, String key) {
        return new Fingerprint(Digest.of(object.bytes(key, Digest.LENGTH)));
    }

    private static Optional<Digest> optionalDigest(JsonObject object, String key) {
        return object.has(key) ? Optional.of(Digest.of(object.bytes(key, Digest.LENGTH))) : Optional.empty();
    }
}
