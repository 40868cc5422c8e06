package org.nemorelay.seams.carrier;

import java.time.Duration;
import java.util.function.Function;
import org.nemorelay.json.JsonException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.NotServedException;
import org.nemorelay.seams.RefusedException;
import org.nemorelay.seams.Subjects;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.workerctl.WireRecord;

/** Control verbs as subjects, for carriers that are a bus. */
public final class Verbs {
    private Verbs() {}

    /** @throws NotServedException for a verb that has no subject */
    public static String subject(String nodeId, ControlVerb verb) {
        if (!ControlVerb.ALL.contains(verb)) {
            throw new NotServedException("serving " + verb + ": this carrier has no subject for it");
        }
        return Subjects.node(nodeId, verb.equals(ControlVerb.NODE_STOP) ? "stop" : verb.name());
    }

    static <R> R ask(
            Exchange exchange,
            Context context,
            String nodeId,
            ControlVerb verb,
            WireRecord request,
            Duration bound,
            Function<byte[], R> decode) {
        String what = verb + " of node " + nodeId;
        context.check(what);
        byte[] reply =
                exchange.request(context, subject(nodeId, verb), request.encode(), context.remainingWithin(bound));
        return decoded(what, reply, decode);
    }

    static <R> R decoded(String what, byte[] reply, Function<byte[], R> decode) {
        try {
            return decode.apply(reply);
        } catch (JsonException e) {
            throw new RefusedException("UNDECODABLE", what + " was answered with something else: " + e.getMessage());
        }
    }
}
