package org.nemorelay.testkit;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Message;
import org.nemorelay.seams.NoRouteException;
import org.nemorelay.seams.Publisher;
import org.nemorelay.seams.RefusedException;
import org.nemorelay.seams.Subjects;
import org.nemorelay.seams.Subscription;
import org.nemorelay.seams.WorkConsumer;
import org.nemorelay.seams.WorkHandler;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.WorkQueue;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.Seam;
import org.nemorelay.seams.carrier.VerbServing;
import org.nemorelay.seams.carrier.WorkDelivery;
import org.nemorelay.seams.control.ControlHandler;
import org.nemorelay.seams.control.ControlServer;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.seams.control.Outcome;

/**
 * A carrier whose every delivery is a call with an end of its own, as HTTP would be. A unit of work has to be answered
 * terminally: the answer is the result that the handler published with the delivery's own publisher (seed, open item 9).
 * A control request that cannot be decoded is told by a status beside the typed body (open item 11).
 */
public final class CallCarrier implements Carrier {
    private static final int OK = 200;
    private static final int BAD_REQUEST = 400;

    /** @param status as HTTP has it */
    public record Answer(int status, byte[] body) {}

    private final Recorder recorder = new Recorder();
    private final Faults faults = new Faults(recorder, recorder);
    private final Map<WorkKind, Consumer> consumers = new ConcurrentHashMap<>();
    private final Map<String, VerbServing> verbs = new ConcurrentHashMap<>();

    public Recorder recorder() {
        return recorder;
    }

    /**
     * Has one unit of work done, and answers with its result.
     *
     * @throws NoRouteException when nobody consumes this kind
     * @throws RefusedException when the handler ended without a result for the job, or with more than one
     */
    public byte[] work(WorkKind kind, byte[] payload) {
        Consumer consumer = consumers.get(kind);
        if (consumer == null) {
            throw new NoRouteException("nobody consumes " + kind.word());
        }
        return consumer.work(payload);
    }

    /** Has one control request served. */
    public Answer control(String nodeId, ControlVerb verb, byte[] body) {
        VerbServing serving = verbs.get(nodeId + " " + verb);
        if (serving == null) {
            throw new NoRouteException("nobody serves " + verb + " at node " + nodeId);
        }
        AtomicReference<Answer> answer = new AtomicReference<>();
        serving.serve(
                body,
                verb + " of node " + nodeId,
                outcome -> answer.set(
                        switch (outcome) {
                            case Outcome.Reply reply -> new Answer(OK, reply.body());
                            case Outcome.Undecodable refusal -> new Answer(BAD_REQUEST, refusal.body());
                            case Outcome.Dropped dropped -> new Answer(BAD_REQUEST, new byte[0]);
                            case Outcome.Silent silent -> new Answer(OK, new byte[0]);
                        }));
        return answer.get();
    }

    @Override
    public String name() {
        return "calls";
    }

    @Override
    public Set<Seam> seams() {
        return Set.of(Seam.QUEUES);
    }

    @Override
    public boolean connected() {
        return true;
    }

    @Override
    public WorkQueue workQueue() {
        return new WorkQueue() {
            @Override
            public void enqueue(Context context, WorkKind kind, byte[] payload) {
                work(kind, payload);
            }

            @Override
            public void flush(Duration bound) {}
        };
    }

    @Override
    public WorkConsumer workConsumer() {
        return (context, kind, maxInFlight, handler) -> {
            Consumer consumer = new Consumer(context, kind, handler);
            consumers.put(kind, consumer);
            return consumer;
        };
    }

    /** Takes units one after the other: the call waits for its end anyway. */
    private final class Consumer implements Subscription {
        private final Context context;
        private final WorkKind kind;
        private final WorkHandler handler;

        private Consumer(Context context, WorkKind kind, WorkHandler handler) {
            this.context = context;
            this.kind = kind;
            this.handler = handler;
        }

        private byte[] work(byte[] payload) {
            Terminal terminal = new Terminal(subject(payload));
            new WorkDelivery("work " + kind.word(), context, 1, handler, terminal, faults, this::unsubscribe)
                    .deliver(payload, kind.word());
            return terminal.answer();
        }

        @Override
        public void unsubscribe() {
            consumers.remove(kind, this);
        }

        @Override
        public void drain() {
            unsubscribe();
        }
    }

    private static String subject(byte[] payload) {
        try {
            return Subjects.jobResult(
                    Json.parseObject(payload).optionalString("job_id").orElse(""));
        } catch (JsonException e) {
            return "";
        }
    }

    /** The delivery's own publisher: what is published on the job's result is the call's answer. */
    private static final class Terminal implements Publisher {
        private final String result;
        private Optional<byte[]> answer = Optional.empty();
        private int count;

        private Terminal(String result) {
            this.result = result;
        }

        @Override
        public synchronized void publish(Message message) {
            if (message.subject().equals(result)) {
                answer = Optional.of(message.body());
                count++;
            }
        }

        private synchronized byte[] answer() {
            if (count > 1) {
                throw new RefusedException("the handler published " + count + " results on " + result);
            }
            return answer.orElseThrow(() -> new RefusedException("the handler ended without a result on " + result));
        }
    }

    @Override
    public ControlServer controlServer(String nodeId) {
        return new ControlServer() {
            private final Set<String> own = ConcurrentHashMap.newKeySet();

            @Override
            public boolean handle(ControlVerb verb, Need need, ControlHandler handler) {
                String key = nodeId + " " + verb;
                own.add(key);
                verbs.put(
                        key,
                        new VerbServing(nodeId, verb, handler, true, faults, event -> {}, () -> verbs.remove(key)));
                return true;
            }

            @Override
            public boolean handleWithProgress(ControlVerb verb, Need need, ControlHandler handler) {
                return handle(verb, need, handler);
            }

            @Override
            public void close() {
                own.forEach(verbs::remove);
            }
        };
    }
}
