package org.nemorelay.carrier.nats.internal;

import io.nats.client.Connection;
import io.nats.client.ConnectionListener;
import io.nats.client.Consumer;
import io.nats.client.ErrorListener;
import io.nats.client.JetStreamStatusException;
import io.nats.client.Message;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.api.ServerInfo;
import io.nats.client.impl.Headers;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.seams.AbsentException;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.NoCarrierException;
import org.nemorelay.seams.NoRouteException;
import org.nemorelay.seams.PayloadTooLargeException;
import org.nemorelay.seams.PermissionDeniedException;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.TimedOutException;
import org.nemorelay.seams.UnreachableException;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;

/**
 * This process's link to NATS: made for ever, and made again, with everything that stands on it. The client library makes
 * it again by itself until a server has refused the same credentials twice; then this class begins afresh.
 *
 * <p>While the link is down nothing is kept: sending fails at once with {@link AbsentException}, and so do the calls that
 * wait. Subscriptions stand and come back with the link.
 */
final class NatsLink {
    private static final String TARGET = "nemo_relay.carrier.nats";
    /** For a round trip that confirms something. */
    private static final Duration CONFIRM = Duration.ofSeconds(5);

    private static final Duration ATTEMPT = Duration.ofSeconds(2);
    private static final int PAUSE_MILLIS = 250;
    /** Others come back after us: this long nobody's silence says that nobody is there. */
    private static final Duration GRACE = Duration.ofSeconds(2);

    private static final String DENIED = "permissions violation for ";

    private final Settings settings;
    private final EventLog log;
    private final Faults faults;
    private final LinkThreads threads;
    private final Set<NatsSubscription> standing = ConcurrentHashMap.newKeySet();
    private final Map<CompletableFuture<Message>, String> asking = new ConcurrentHashMap<>();
    /** What the server denied on this connection: subjects, with the queue group behind a space if it named one. */
    private final Set<String> deniedSubscriptions = ConcurrentHashMap.newKeySet();

    private final Set<String> deniedPublishing = ConcurrentHashMap.newKeySet();
    private final List<Runnable> reconnects = new CopyOnWriteArrayList<>();
    /** One at a time: the client library takes a few unanswered pings for the end of the link. */
    private final ReentrantLock flushing = new ReentrantLock();

    /** What was said since the link was up last. */
    private final Set<String> told = ConcurrentHashMap.newKeySet();

    private final Thread supervisor;
    private volatile Optional<Connection> connection = Optional.empty();
    private volatile Optional<Long> returned = Optional.empty();
    private volatile boolean wasUp;
    private volatile boolean closed;

    NatsLink(Settings settings, EventLog log, Faults faults) {
        this.settings = settings;
        this.log = log;
        this.faults = faults;
        this.threads = new LinkThreads(settings.name());
        this.supervisor =
                Thread.ofVirtual().name("nats " + settings.name() + " link").unstarted(this::supervise);
    }

    String name() {
        return settings.name();
    }

    /** Begins to connect; returns at once. */
    void start() {
        supervisor.start();
    }

    boolean connected() {
        return up().isPresent();
    }

    private Optional<Connection> up() {
        return connection.filter(now -> now.getStatus() == Connection.Status.CONNECTED);
    }

    /** The cluster, or the only server, that this link is attached to; empty until it was. */
    Optional<String> network() {
        return connection
                .map(Connection::getServerInfo)
                .filter(info -> info != ServerInfo.EMPTY_INFO)
                .map(info -> info.getCluster() == null || info.getCluster().isEmpty()
                        ? "nats server " + info.getServerId()
                        : "nats cluster " + info.getCluster());
    }

    // Connecting

    private void supervise() {
        try {
            while (!closed) {
                CountDownLatch end = new CountDownLatch(1);
                try {
                    Connection made = Nats.connect(options(end));
                    try {
                        begin(made);
                        end.await();
                    } finally {
                        made.close();
                    }
                } catch (IOException e) {
                    // Why, the client library has told its listener; the exception only names the servers.
                    log.log(Level.DEBUG, TARGET, "", "carrier " + name() + ": " + withoutSecrets(e));
                } catch (RuntimeException e) {
                    tellOnce("cannot connect: " + withoutSecrets(e));
                }
                Thread.sleep(pause());
            }
        } catch (InterruptedException e) {
            // Closed.
        }
    }

    private static Duration pause() {
        return Duration.ofMillis(PAUSE_MILLIS + ThreadLocalRandom.current().nextInt(PAUSE_MILLIS / 2));
    }

    private Options options(CountDownLatch end) {
        Options.Builder options = Options.builder()
                .servers(settings.servers().toArray(new String[0]))
                .serverPool(new CredentialedPool(settings.credentials(), this::tellOnce))
                .connectionName("nemo-relay " + settings.name())
                // The name that was configured is what TLS checks, and what DNS is asked for again.
                .hostnameResolveMode(Options.HostnameResolveMode.HappyEyeballs)
                .connectionTimeout(ATTEMPT)
                .maxReconnects(-1)
                .reconnectDelayHandler(round -> pause())
                .reconnectBufferSize(0)
                .pingInterval(Duration.ofSeconds(15))
                .maxPingsOut(4)
                .reportNoResponders()
                .executor(threads.work())
                .callbackExecutor(LinkThreads.direct())
                .connectExecutor(threads.sockets())
                .readerExecutor(threads.sockets())
                .writerExecutor(threads.sockets())
                .scheduledExecutor(threads.timer())
                .connectionListener(new Listener(end))
                .errorListener(new Errors());
        if (!settings.discover()) {
            options.ignoreDiscoveredServers();
        }
        settings.credentials().apply(options);
        settings.tls().ifPresent(tls -> options.sslContext(tls.context()));
        return options.build();
    }

    /** A new connection takes over everything that stands. */
    private void begin(Connection made) {
        synchronized (this) {
            deniedSubscriptions.clear();
            deniedPublishing.clear();
            connection = Optional.of(made);
            standing.forEach(each -> attach(made, each));
        }
        returnedNow();
    }

    private static void attach(Connection to, NatsSubscription subscription) {
        subscription.attach(
                subscription.group().isPresent()
                        ? to.subscribe(
                                subscription.subject(), subscription.group().get())
                        : to.subscribe(subscription.subject()));
    }

    /** The link is up and everything was asked for again. */
    private void returnedNow() {
        told.clear();
        boolean again = wasUp;
        wasUp = true;
        log.log(
                Level.INFO,
                TARGET,
                "",
                "carrier " + name() + ": connected to " + network().orElse("NATS"));
        if (!again) {
            return;
        }
        returned = Optional.of(System.nanoTime());
        threads.work().execute(() -> {
            try {
                flush(CONFIRM);
            } catch (SeamException e) {
                // The link went again; its next return is told.
                return;
            }
            for (Runnable action : reconnects) {
                try {
                    action.run();
                } catch (RuntimeException e) {
                    faults.caught("carrier " + name(), "a callback after the link's return", e);
                }
            }
        });
    }

    private void gone() {
        asking.forEach((reply, subject) -> reply.completeExceptionally(
                new AbsentException(subject + ": the link of carrier " + name() + " broke while the call ran")));
    }

    /** What keeps the link from working: without it a role does nothing, so the level that everyone sees. */
    private void tellOnce(String what) {
        boolean news = told.size() < 16 && told.add(what);
        log.log(news ? Level.ERROR : Level.DEBUG, TARGET, "", "carrier " + name() + ": " + what);
    }

    private static Throwable root(Throwable thrown) {
        return thrown.getCause() == null ? thrown : root(thrown.getCause());
    }

    private static String withoutSecrets(Throwable e) {
        return Reasons.of(e).replaceAll("//[^@/\\s]*@", "//");
    }

    /** Called where things happen, also by the thread that reads: it must not wait. */
    private final class Listener implements ConnectionListener {
        private final CountDownLatch end;

        private Listener(CountDownLatch end) {
            this.end = end;
        }

        @Override
        @Deprecated
        public void connectionEvent(Connection from, Events type) {}

        @Override
        public void connectionEvent(Connection from, Events type, Long time, String uriDetails) {
            switch (type) {
                case DISCONNECTED -> {
                    gone();
                    if (!closed && connection.filter(now -> now == from).isPresent()) {
                        tellOnce("the link is down and will be made again");
                    }
                }
                case RECONNECTED -> {
                    deniedSubscriptions.clear();
                    deniedPublishing.clear();
                }
                case RESUBSCRIBED -> returnedNow();
                case CLOSED -> {
                    gone();
                    end.countDown();
                }
                default -> {}
            }
        }
    }

    private final class Errors implements ErrorListener {
        @Override
        public void errorOccurred(Connection from, String error) {
            String lower = error.toLowerCase(java.util.Locale.ROOT);
            if (lower.startsWith(DENIED)) {
                denied(lower.substring(DENIED.length()), error);
            } else {
                tellOnce("the server says: " + error);
            }
        }

        @Override
        public void exceptionOccurred(Connection from, Exception thrown) {
            if (!connected() && !closed) {
                tellOnce("cannot connect: " + withoutSecrets(root(thrown)));
            } else {
                log.log(Level.DEBUG, TARGET, "", "carrier " + name() + ": " + withoutSecrets(thrown));
            }
        }

        @Override
        public void slowConsumerDetected(Connection from, Consumer consumer) {
            String subject = consumer instanceof io.nats.client.Subscription slow ? slow.getSubject() : "replies";
            log.log(
                    Level.WARN,
                    TARGET,
                    "slow_consumer",
                    subject + ": a slow subscriber is " + consumer.getPendingMessageCount()
                            + " messages behind and loses what comes now",
                    "carrier",
                    name());
        }
    }

    /** {@code subscription to "x"}, {@code subscription to "x" using queue "y"}, {@code publish to "x"}, with case. */
    private void denied(String what, String error) {
        String[] quoted = error.split("\"");
        if (quoted.length < 2) {
            return;
        }
        if (what.startsWith("subscription")) {
            deniedSubscriptions.add(quoted.length > 3 ? quoted[1] + " " + quoted[3] : quoted[1]);
        } else {
            deniedPublishing.add(quoted[1]);
            asking.forEach((reply, subject) -> {
                if (subject.equals(quoted[1])) {
                    reply.completeExceptionally(publishingDenied(subject));
                }
            });
        }
        log.log(Level.ERROR, TARGET, "", "carrier " + name() + ": the server says: " + error);
    }

    private PermissionDeniedException publishingDenied(String subject) {
        return new PermissionDeniedException(
                subject + ": the NATS server of carrier " + name() + " does not let this client publish it");
    }

    // Sending

    private Connection requireUp(String what) {
        if (closed) {
            throw new NoCarrierException("carrier " + name() + " is closed");
        }
        Optional<Connection> now = connection;
        if (now.isEmpty() || now.get().getStatus() != Connection.Status.CONNECTED) {
            throw absent(what);
        }
        return now.get();
    }

    private AbsentException absent(String what) {
        return new AbsentException(what + ": the link of carrier " + name() + " is down");
    }

    /** @param subject already validated */
    void publish(String subject, Optional<Headers> headers, byte[] body) {
        Connection to = requireUp(subject);
        requireFits(to, subject, headers.map(Headers::serializedLength).orElse(0), body);
        requireAllowed(subject);
        send(to, subject, headers, body);
    }

    private void send(Connection to, String subject, Optional<Headers> headers, byte[] body) {
        // The client library drops what an interrupted thread sends.
        boolean interrupted = Thread.interrupted();
        try {
            if (headers.isPresent()) {
                to.publish(subject, headers.get(), body);
            } else {
                to.publish(subject, body);
            }
        } catch (IllegalStateException e) {
            throw absent(subject);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Sends what a caller waits for, to an address that the client library made. */
    void answer(Message request, byte[] body) {
        try {
            Connection to = requireUp("an answer");
            byte[] fitting = body;
            if (body.length > to.getMaxPayload()) {
                fitting = ("{\"error\":\"the answer has " + body.length + " bytes, more than the " + to.getMaxPayload()
                                + " that the carrier takes\"}")
                        .getBytes(java.nio.charset.StandardCharsets.UTF_8);
            }
            send(to, request.getReplyTo(), Optional.empty(), fitting);
        } catch (SeamException e) {
            faults.warn(request.getSubject(), "an answer is lost: " + e.getMessage());
        }
    }

    private void requireFits(Connection to, String subject, int headers, byte[] body) {
        long size = (long) headers + body.length;
        if (size > to.getMaxPayload()) {
            throw new PayloadTooLargeException(subject + ": " + size + " bytes, headers included, are more than the "
                    + to.getMaxPayload() + " that the server of carrier " + name() + " takes");
        }
    }

    private void requireAllowed(String subject) {
        if (!deniedPublishing.isEmpty() && deniedPublishing.contains(subject)) {
            throw publishingDenied(subject);
        }
    }

    /** @param subject already validated */
    byte[] request(String subject, byte[] body, Duration bound) {
        Connection to = requireUp(subject);
        requireFits(to, subject, 0, body);
        requireAllowed(subject);
        CompletableFuture<Message> reply;
        try {
            reply = to.requestWithTimeout(subject, body, bound);
        } catch (IllegalStateException e) {
            throw absent(subject);
        }
        asking.put(reply, subject);
        try {
            requireUp(subject);
            requireAllowed(subject);
            return reply.get(bound.toNanos(), TimeUnit.NANOSECONDS).getData();
        } catch (TimeoutException e) {
            throw new TimedOutException(subject + ": no answer within " + bound);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancelledException(subject + ": interrupted while waiting for the answer");
        } catch (CancellationException e) {
            throw absent(subject);
        } catch (ExecutionException e) {
            throw failure(subject, e.getCause());
        } finally {
            asking.remove(reply);
            reply.cancel(true);
        }
    }

    private SeamException failure(String subject, Throwable cause) {
        return switch (cause) {
            case SeamException ours -> ours;
            case JetStreamStatusException status -> nobodyListens(subject);
            default -> absent(subject);
        };
    }

    /** The one place where the server's word that nobody listens becomes a routing fact, or none yet. */
    private SeamException nobodyListens(String subject) {
        boolean early = returned.filter(then -> System.nanoTime() - then < GRACE.toNanos())
                .isPresent();
        return early
                ? new AbsentException(subject + ": the link of carrier " + name()
                        + " is just back, and who listened may still be on the way")
                : new NoRouteException(subject + ": nobody listens on carrier " + name());
    }

    void flush(Duration bound) {
        Connection to = requireUp("flush");
        long end = System.nanoTime() + bound.toNanos();
        try {
            if (!flushing.tryLock(bound.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new TimedOutException("carrier " + name() + ": the server took longer than " + bound);
            }
            try {
                to.flush(Duration.ofNanos(Math.max(1, end - System.nanoTime())));
            } finally {
                flushing.unlock();
            }
        } catch (TimeoutException e) {
            requireUp("flush");
            throw new TimedOutException("carrier " + name() + ": the server took longer than " + bound);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancelledException("carrier " + name() + ": interrupted while waiting for the server");
        }
    }

    // What stands

    /**
     * Attaches a sink, confirmed by a round trip while the link is up.
     *
     * @param subject already validated
     * @param closeSink refuses further deliveries and waits for running ones
     */
    NatsSubscription subscribe(
            String subject, Optional<String> group, java.util.function.Consumer<Message> sink, Runnable closeSink) {
        if (closed) {
            throw new NoCarrierException("carrier " + name() + " is closed");
        }
        NatsSubscription subscription = new NatsSubscription(this, subject, group, sink, closeSink, faults);
        synchronized (this) {
            deniedSubscriptions.removeAll(names(subscription));
            standing.add(subscription);
            connection.ifPresent(to -> attach(to, subscription));
        }
        subscription.start();
        if (connected()) {
            confirm(subscription);
        }
        return subscription;
    }

    private static List<String> names(NatsSubscription subscription) {
        String subject = subscription.subject();
        return subscription
                .group()
                .map(group -> List.of(subject, subject + " " + group))
                .orElse(List.of(subject));
    }

    private void confirm(NatsSubscription subscription) {
        try {
            flush(CONFIRM);
        } catch (AbsentException | UnreachableException e) {
            faults.warn(subscription.subject(), "not confirmed, and kept: " + e.getMessage());
        }
        if (names(subscription).stream().anyMatch(deniedSubscriptions::contains)) {
            subscription.unsubscribe();
            throw new PermissionDeniedException(subscription.subject() + ": the NATS server of carrier " + name()
                    + " does not let this client subscribe to it");
        }
    }

    /** Takes the interest back at the server; what has come can still be taken, and then the result must be run. */
    Optional<Runnable> drain(io.nats.client.Subscription subscription) {
        if (!connected()) {
            return Optional.empty();
        }
        flushing.lock();
        try {
            return Optional.of(threads.hold(() -> subscription.drain(CONFIRM)));
        } catch (IllegalStateException inactive) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        } finally {
            flushing.unlock();
        }
    }

    void forget(NatsSubscription subscription) {
        standing.remove(subscription);
    }

    Registration onReconnect(Runnable action) {
        reconnects.add(action);
        return () -> reconnects.remove(action);
    }

    /** Ends every subscription after what it has, and every call that waits; then the link and its threads. */
    void close() {
        asking.forEach((reply, subject) -> reply.completeExceptionally(
                new UnreachableException("carrier " + name() + " was closed while the call ran")));
        List.copyOf(standing).forEach(NatsSubscription::drain);
        if (connected()) {
            try {
                flush(CONFIRM);
            } catch (SeamException e) {
                faults.warn("carrier " + name(), "closed without the server's word that it has everything");
            }
        }
        closed = true;
        supervisor.interrupt();
        try {
            supervisor.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        threads.close();
    }
}
