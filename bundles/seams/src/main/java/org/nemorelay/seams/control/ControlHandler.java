package org.nemorelay.seams.control;

import java.nio.charset.StandardCharsets;
import java.util.function.Function;
import org.nemorelay.json.JsonException;
import org.nemorelay.seams.Context;
import org.nemorelay.workerctl.WireRecord;
import org.osgi.annotation.versioning.ConsumerType;

/**
 * Serves one verb, bytes in and bytes out; made with {@link #unary}, {@link #withProgress} or {@link #noReply}. A body
 * that cannot be decoded is answered with the verb's typed refusal (distributed-seams 4.3).
 */
@ConsumerType
@FunctionalInterface
public interface ControlHandler {
    Outcome handle(Context context, byte[] body, ProgressSink progress);

    /** Work that answers once. */
    @FunctionalInterface
    interface Unary<Q, R extends WireRecord> {
        R run(Context context, Q request);
    }

    /** Work that reports on the way to its answer. */
    @FunctionalInterface
    interface WithProgress<Q, R extends WireRecord> {
        R run(Context context, Q request, ProgressSink progress);
    }

    /**
     * @param refusal makes the verb's refusal from {@code invalid request: <cause>}
     */
    static <Q, R extends WireRecord> ControlHandler unary(
            Function<byte[], Q> decode, Function<String, R> refusal, Unary<Q, R> work) {
        return withProgress(decode, refusal, (context, request, progress) -> work.run(context, request));
    }

    /** As {@link #unary}, for a verb whose body is ignored. */
    static <R extends WireRecord> ControlHandler unary(Function<Context, R> work) {
        return (context, body, progress) -> encode(work.apply(context));
    }

    static <Q, R extends WireRecord> ControlHandler withProgress(
            Function<byte[], Q> decode, Function<String, R> refusal, WithProgress<Q, R> work) {
        return (context, body, progress) -> {
            Q request;
            try {
                request = decode.apply(body);
            } catch (JsonException e) {
                String cause = "invalid request: " + e.getMessage();
                return new Outcome.Undecodable(refusal.apply(cause).encode(), cause);
            }
            return encode(work.run(context, request, progress));
        };
    }

    /** For a verb that is told, not asked, and whose body is ignored. */
    static ControlHandler noReply(Runnable work) {
        return (context, body, progress) -> {
            work.run();
            return new Outcome.Silent();
        };
    }

    /** For a verb that is told, not asked. */
    static <Q> ControlHandler noReply(Function<byte[], Q> decode, java.util.function.Consumer<Q> work) {
        return (context, body, progress) -> {
            Q request;
            try {
                request = decode.apply(body);
            } catch (JsonException e) {
                return new Outcome.Dropped(e.getMessage());
            }
            work.accept(request);
            return new Outcome.Silent();
        };
    }

    private static Outcome encode(WireRecord reply) {
        try {
            return new Outcome.Reply(reply.encode());
        } catch (JsonException e) {
            return new Outcome.Reply("{\"error\":\"internal marshal error\"}".getBytes(StandardCharsets.UTF_8));
        }
    }
}
