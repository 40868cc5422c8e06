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
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.nemorelay.seams.AbsentException;
import org.nemorelay.seams.Broadcaster;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Message;
import org.nemorelay.seams.NoRouteException;
import org.nemorelay.seams.PayloadTooLargeException;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.Subjects;
import org.nemorelay.seams.Subscription;
import org.nemorelay.seams.TimedOutException;
import org.nemorelay.seams.WorkConsumer;
import org.nemorelay.seams.WorkHandler;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.WorkQueue;
import org.nemorelay.seams.carrier.AgentVerbs;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.ControlTimeouts;
import org.nemorelay.seams.carrier.Exchange;
import org.nemorelay.seams.carrier.ExchangeAgentControl;
import org.nemorelay.seams.carrier.ExchangeCommandSender;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.InFlight;
import org.nemorelay.seams.carrier.Seam;
import org.nemorelay.seams.carrier.VerbServing;
import org.nemorelay.seams.carrier.Verbs;
import org.nemorelay.seams.carrier.WorkDelivery;
import org.nemorelay.seams.carrier.WorkRoutes;
import org.nemorelay.seams.control.AgentControl;
import org.nemorelay.seams.control.AgentRpcServer;
import org.nemorelay.seams.control.ControlHandler;
import org.nemorelay.seams.control.ControlServer;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.seams.control.NodeCommandSender;
import org.nemorelay.seams.control.Outcome;
import org.nemorelay.workerctl.BackendInstallProgressEvent;

/**
 * A carrier for the tests of those who use the seams: a publisher runs the handlers before it returns, so that a test
 * needs no waiting, and the link can be cut. Serves fan-out, queues, control verbs and agent calls; control calls have
 * a bound of {@link CarrierRig#BOUND}.
 */
public final class FakeBus implements Carrier {
    private static final int MAX_PAYLOAD = 1024 * 1024;

    private record Delivery(Message message, Optional<CompletableFuture<byte[]>> reply) {
        private void answer(Outcome outcome) {
            switch (outcome) {
                case Outcome.Reply answer -> reply.ifPresent(caller -> caller.complete(answer.body()));
                case Outcome.Undecodable answer -> reply.ifPresent(caller -> caller.complete(answer.body()));
                case Outcome.Silent silent -> {}
                case Outcome.Dropped dropped -> {}
            }
        }
    }

    private final Recorder recorder = new Recorder();
    private final Faults faults = new Faults(recorder, recorder);
    private final Bus bus = new Bus();
    private final Queues queues = new Queues();
    private final List<Member> members = new CopyOnWriteArrayList<>();
    private final List<Runnable> reconnects = new CopyOnWriteArrayList<>();
    private final Map<String, AtomicInteger> published = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> turns = new ConcurrentHashMap<>();
    private final NodeCommandSender commands =
            new ExchangeCommandSender(bus, ControlTimeouts.atMost(CarrierRig.BOUND), faults);
    private final AgentControl agentControl = new ExchangeAgentControl(bus);
    private volatile boolean connected = true;

    /** What handlers and consumers reported. */
    public Recorder recorder() {
        return recorder;
    }

    /** How often something was published on exactly this subject. */
    public int publishCount(String subject) {
        AtomicInteger count = published.get(subject);
        return count == null ? 0 : count.get();
    }

    /** Subject to queue group of everything that shares its messages now. */
    public Map<String, String> queueGroups() {
        Map<String, String> groups = new TreeMap<>();
        members.forEach(member -> member.group.ifPresent(group -> groups.put(member.pattern, group)));
        return groups;
    }

    /** Hands a request to whoever serves the subject and returns its answer; empty when nobody does or none is given. */
    public Optional<byte[]> deliverReply(String subject, byte[] body) {
        CompletableFuture<byte[]> reply = new CompletableFuture<>();
        send(new Delivery(Message.of(subject, body), Optional.of(reply)));
        return Optional.ofNullable(reply.getNow(null));
    }

    /** Cuts the link: calls fail as absent, subscriptions stay. */
    public void disconnect() {
        connected = false;
    }

    /** Brings the link back and tells those who wanted to know. */
    public void triggerReconnect() {
        connected = true;
        List.copyOf(reconnects).forEach(Runnable::run);
    }

    /** Bytes to a subject, past the typed senders. */
    public Exchange exchange() {
        return bus;
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
        return connected;
    }

    @Override
    public Broadcaster broadcaster() {
        return bus;
    }

    @Override
    public WorkQueue workQueue() {
        return queues;
    }

    @Override
    public WorkConsumer workConsumer() {
        return queues;
    }

    @Override
    public NodeCommandSender commands() {
        return commands;
    }

    @Override
    public ControlServer controlServer(String nodeId) {
        return new Server(nodeId);
    }

    @Override
    public AgentControl agentControl() {
        return agentControl;
    }

    @Override
    public AgentRpcServer agentRpcServer() {
        return (nodeId, handler) -> {
            Server server = new Server(nodeId);
            Optional<String> shared = Optional.of(AgentVerbs.GROUP);
            server.serve(Subjects.mcpToolsExecute(), shared, AgentVerbs.TOOL, AgentVerbs.tool(handler), true);
            server.serve(Subjects.mcpDiscovery(), shared, AgentVerbs.DISCOVERY, AgentVerbs.discovery(handler), true);
            server.serve(
                    Verbs.subject(nodeId, ControlVerb.BACKEND_STOP),
                    Optional.empty(),
                    ControlVerb.BACKEND_STOP,
                    AgentVerbs.backendStop(handler),
                    true);
            return server;
        };
    }

    private int send(Delivery delivery) {
        Message message = delivery.message();
        Subjects.validate(message.subject());
        int size = message.body().length;
        for (Map.Entry<String, String> header : message.headers().entrySet()) {
            size += header.getKey().length() + header.getValue().length();
        }
        if (size > MAX_PAYLOAD) {
            throw new PayloadTooLargeException(message.subject() + ": " + size + " bytes are more than " + MAX_PAYLOAD);
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
        return receivers.size();
    }

    private Member attach(String pattern, Optional<String> group, Consumer<Delivery> sink, Runnable closeSink) {
        Subjects.validate(pattern);
        Member member = new Member(pattern, group, sink, closeSink);
        members.add(member);
        return member;
    }

    /** One at a time for each subscription, on the publisher's thread. */
    private final class Member implements Subscription {
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
        public void unsubscribe() {
            closeSink.run();
            members.remove(this);
        }

        @Override
        public void drain() {
            unsubscribe();
        }
    }

    private final class Bus implements Broadcaster, Exchange {
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
                    delivery -> {
                        if (running.enter()) {
                            try {
                                handler.accept(delivery.message());
                            } finally {
                                running.leave();
                            }
                        }
                    },
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
        public void post(String subject, byte[] body) {
            publish(subject, body);
        }

        @Override
        public Subscription listen(String subject, Consumer<byte[]> handler) {
            return subscribe(subject, message -> handler.accept(message.body()));
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
    }

    private final class Queues implements WorkQueue, WorkConsumer {
        private final AtomicInteger numbers = new AtomicInteger();

        @Override
        public void enqueue(Context context, WorkKind kind, byte[] payload) {
            bus.publish(WorkRoutes.standard().of(kind).subject(), payload);
        }

        @Override
        public void flush(Duration bound) {
            bus.flush(bound);
        }

        @Override
        public Subscription consume(Context context, WorkKind kind, int maxInFlight, WorkHandler handler) {
            WorkRoutes.Route route = WorkRoutes.standard().of(kind);
            AtomicReference<Member> own = new AtomicReference<>();
            WorkDelivery delivery = new WorkDelivery(
                    "consumer of " + kind.word(),
                    context,
                    maxInFlight,
                    handler,
                    bus,
                    faults,
                    () -> members.remove(own.get()));
            own.set(attach(
                    route.subject(),
                    route.group(),
                    unit -> delivery.deliver(
                            unit.message().body(), route.subject() + " number " + numbers.incrementAndGet()),
                    delivery::close));
            return own.get();
        }
    }

    private final class Server implements ControlServer {
        private final String nodeId;
        private final List<Member> verbs = new CopyOnWriteArrayList<>();
        private final AtomicInteger numbers = new AtomicInteger();

        private Server(String nodeId) {
            this.nodeId = nodeId;
        }

        @Override
        public boolean handle(ControlVerb verb, Need need, ControlHandler handler) {
            return serve(verb, need, handler, true);
        }

        @Override
        public boolean handleWithProgress(ControlVerb verb, Need need, ControlHandler handler) {
            return serve(verb, need, handler, false);
        }

        private boolean serve(ControlVerb verb, Need need, ControlHandler handler, boolean serial) {
            if (need == Need.OPTIONAL && !ControlVerb.ALL.contains(verb)) {
                return false;
            }
            serve(Verbs.subject(nodeId, verb), Optional.of("node"), verb, handler, serial);
            return true;
        }

        private void serve(
                String subject, Optional<String> group, ControlVerb verb, ControlHandler handler, boolean serial) {
            AtomicReference<Member> own = new AtomicReference<>();
            VerbServing serving = new VerbServing(
                    nodeId, verb, handler, serial, faults, this::report, () -> members.remove(own.get()));
            own.set(attach(
                    subject,
                    group,
                    request -> serving.serve(
                            request.message().body(), "request " + numbers.incrementAndGet(), request::answer),
                    serving::close));
            verbs.add(own.get());
        }

        private void report(BackendInstallProgressEvent event) {
            if (!event.opId().isEmpty()) {
                bus.publish(Subjects.installProgress(nodeId, event.opId()), event.encode());
            }
        }

        @Override
        public void close() {
            verbs.forEach(Member::unsubscribe);
            verbs.clear();
        }
    }
}
