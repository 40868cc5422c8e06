package org.nemorelay.protocol.control;

import java.util.Map;
import java.util.Optional;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.LaunchGrant;

/** What the daemon sends to clients, to JSON and back. */
final class EventCodec {
    private EventCodec() {}

    static Map<String, Object> json(ServerEvent event) {
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

    static ServerEvent event(String requestId, JsonObject frame) {
        return switch (frame.string("type")) {
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
                        Parts.proof(registered.daemonProof()),
                        "session_token",
                        registered.sessionToken().text(),
                        "directive",
                        directive(registered.directive()));
            case ReplyBody.WorkerRegistered registered ->
                Json.object(
                        "daemon_proof",
                        Parts.proof(registered.daemonProof()),
                        "session_token",
                        registered.sessionToken().text(),
                        "data_token",
                        registered.dataToken().text(),
                        "generation_grant",
                        Parts.generationGrant(registered.generationGrant()));
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
                    Parts.descriptor(object.object("daemon")),
                    object.string("daemon_instance_id"),
                    Parts.octets(object, "daemon_public_identity", Parts.KEY),
                    Parts.fingerprint(object, "daemon_fingerprint"),
                    Parts.octets(challenge, "id", Parts.CHALLENGE_ID),
                    Parts.octets(challenge, "nonce", Parts.NONCE),
                    challenge.unsigned64("issued_at_unix_ms"),
                    challenge.unsigned64("expires_at_unix_ms"),
                    Parts.octets(object, "daemon_challenge_proof"));
        }
        if (object.has("generation_grant")) {
            return new ReplyBody.WorkerRegistered(
                    Parts.proof(object.object("daemon_proof")),
                    new Secret(object.string("session_token")),
                    new Secret(object.string("data_token")),
                    Parts.generationGrant(object.object("generation_grant")));
        }
        if (object.has("directive")) {
            return new ReplyBody.McpRegistered(
                    Parts.proof(object.object("daemon_proof")),
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
}
