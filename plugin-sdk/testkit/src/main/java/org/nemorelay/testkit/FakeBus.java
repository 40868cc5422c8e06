package org.nemorelay.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.nemorelay.seams.AbsentException;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Message;
import org.nemorelay.seams.NoRouteException;
import org.nemorelay.seams.PayloadTooLargeException;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.Subjects;
import org.nemorelay.seams.Subscription;
import org.nemorelay.seams.TimedOutException;
import org.nemorelay.seams.carrier.Bus;
import org.nemorelay.seams.carrier.BusCarrier;
import org.nemorelay.seams.carrier.BusQueues;
import org.nemorelay.seams.carrier.ControlTimeouts;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.InFlight;
import org.nemorelay.seams.carrier.Seam;
import org.nemorelay.seams.carrier.WorkRoutes;

/**
 * A carrier for the tests of those who use the seams: a publisher runs the handlers before it returns, so that a test
 * needs no waiting, and the link can be cut. Serves fan-out, queues, control verbs and agent calls; control calls have
 * a bound of {@link CarrierRig#BOUND}.
 */
public final class FakeBus extends BusCarrier {
    private static final int MAX_PAYLOAD = 1024 * 1024;

    private final Wire wire;

    public FakeBus() {
        this(new Wire());
    }

    private FakeBus(Wire wire) {
        super(
                wire,
                new BusQueues(wire, WorkRoutes.standard(), wire.faults),
                ControlTimeouts.atMost(CarrierRig.BOUND),
                wire.faults);
        this.wire = wire;
    }

    /** What handlers and consumers reported. */
    public Recorder recorder() {
        return wire.recorder;
    }

    /** How often something was published on exactly this subject. */
    public int publishCount(String subject) {
        AtomicInteger count = wire.published.get(subject);
        return count == null ? 0 : count.get();
    }

    /** Subject to queue group of everything that shares its messages now. */
    public Map<String, String> queueGroups() {
        Map<String, String> groups = new TreeMap<>();
        wire.members.forEach(member -> member.group.ifPresent(group -> groups.put(member.pattern, group)));
        return groups;
    }

    /** Hands a request to whoever serves the subject and returns its answer; empty when nobody does or none is given. */
    public Optional<byte[]> deliverReply(String subject, byte[] body) {
        CompletableFuture<byte[]> reply = new CompletableFuture<>();
        wire.send(new Delivery(Message.of(subject, body), Optional.of(reply)));
        return Optional.ofNullable(reply.getNow(null));
    }

    /** Cuts the link: calls fail as absent, subscriptions stay. */
    public void disconnect() {
        wire.connected = false;
    }

    /** Brings the link back and tells those who wanted to know. */
    public void triggerReconnect() {
        wire.connected = true;
        List.copyOf(wire.reconnects).forEach(Runnable::run);
    }

    @Override
    public String name() {
        return "fake";
    }

    @Override
    public Set<Seam> seams() {
        return EnumSet.of(Seam.FAN_OUT, Seam.QUEUES, Seam.CONTROL, Seam.AGENT_RPC);
    }

    @Override
    public boolean connected() {
        return wire.connected;
    }

    private record Delivery(Message message, Optional<CompletableFuture<byte[]>> reply) {
        private void answer(byte[] body) {
            reply.ifPresent(caller -> caller.complete(body));
        }
    }

    /** Subjects, groups and replies, on the publisher's thread. */
    private static final class Wire implements Bus {
        private final Recorder recorder = new Recorder();
        private final Faults faults = new Faults(recorder, recorder);
        private final List<Member> members = new CopyOnWriteArrayList<>();
        private final List<Runnable> reconnects = new CopyOnWriteArrayList<>();
        private final Map<String, AtomicInteger> published = new ConcurrentHashMap<>();
        private final Map<String, AtomicInteger> turns = new ConcurrentHashMap<>();
        private volatile boolean connected = true;

        @Override
        public void publish(Message message) {
            send(new Delivery(message, Optional.empty()));
        }

        @Override
        public Subscription subscribe(String subject, Consumer<Message> handler) {
            InFlight running = new InFlight(subject);
            return attach(
                    subject,
                    Optional.empty(),
                    delivery -> running.run(() -> handler.accept(delivery.message())),
                    running::close);
        }

        @Override
        public void flush(Duration bound) {
            if (!connected) {
                throw new AbsentException("the fake bus is cut");
            }
        }

        @Override
        public Registration onReconnect(Runnable action) {
            reconnects.add(action);
            return () -> reconnects.remove(action);
        }

        @Override
        public Intake take(String subject, Optional<String> group, Sink sink, Runnable closeSink) {
            return attach(
                    subject, group, delivery -> sink.accept(delivery.message().body(), delivery::answer), closeSink);
        }

        /** The server runs apart, so that the caller's bound holds. */
        @Override
        public byte[] request(Context context, String subject, byte[] body, Duration bound) {
            Subjects.validate(subject);
            if (!connected) {
                throw new AbsentException("the fake bus is cut");
            }
            if (members.stream().noneMatch(member -> Subjects.matches(member.pattern, subject))) {
                throw new NoRouteException(subject + ": nobody listens on the fake bus");
            }
            CompletableFuture<byte[]> reply = new CompletableFuture<>();
            Thread.ofVirtual().start(() -> send(new Delivery(Message.of(subject, body), Optional.of(reply))));
            try {
                return reply.get(bound.toNanos(), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                throw new TimedOutException(subject + ": no answer within " + bound);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CancelledException(subject + ": interrupted");
            } catch (ExecutionException e) {
                throw new IllegalStateException(e);
            }
        }

        private void send(Delivery delivery) {
            Message message = delivery.message();
            Subjects.validate(message.subject());
            int size = message.body().length;
            for (Map.Entry<String, String> header : message.headers().entrySet()) {
                size += header.getKey().length() + header.getValue().length();
            }
            if (size > MAX_PAYLOAD) {
                throw new PayloadTooLargeException(
                        message.subject() + ": " + size + " bytes are more than " + MAX_PAYLOAD);
            }
            if (!connected) {
                throw new AbsentException("the fake bus is cut");
            }
            published
                    .computeIfAbsent(message.subject(), subject -> new AtomicInteger())
                    .incrementAndGet();
            Map<String, List<Member>> shared = new TreeMap<>();
            List<Member> receivers = new ArrayList<>();
            for (Member member : members) {
                if (Subjects.matches(member.pattern, message.subject())) {
                    if (member.group.isPresent()) {
                        shared.computeIfAbsent(member.pattern + " " + member.group.get(), key -> new ArrayList<>())
                                .add(member);
                    } else {
                        receivers.add(member);
                    }
                }
            }
            shared.forEach((key, group) -> receivers.add(group.get(
                    turns.computeIfAbsent(key, name -> new AtomicInteger()).getAndIncrement() % group.size())));
            receivers.forEach(member -> member.deliver(delivery));
        }

        private Member attach(String pattern, Optional<String> group, Consumer<Delivery> sink, Runnable closeSink) {
            Subjects.validate(pattern);
            Member member = new Member(pattern, group, sink, closeSink);
            members.add(member);
            return member;
        }

        /** One at a time for each subscription, on the publisher's thread. */
        private final class Member implements Intake {
            private final String pattern;
            private final Optional<String> group;
            private final Consumer<Delivery> sink;
            private final Runnable closeSink;

            private Member(String pattern, Optional<String> group, Consumer<Delivery> sink, Runnable closeSink) {
                this.pattern = pattern;
                this.group = group;
                this.sink = sink;
                this.closeSink = closeSink;
            }

            private synchronized void deliver(Delivery delivery) {
                try {
                    sink.accept(delivery);
                } catch (Throwable thrown) {
                    if (Faults.meant(thrown)) {
                        faults.refused(pattern, delivery.message().toString(), thrown);
                    } else {
                        faults.caught(pattern, delivery.message().toString(), thrown);
                    }
                }
            }

            @Override
            public void detach() {
                members.remove(this);
            }

            @Override
            public void unsubscribe() {
                closeSink.run();
                detach();
            }

            @Override
            public void drain() {
                unsubscribe();
            }
        }
    }
}
