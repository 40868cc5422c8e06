package org.nemorelay.carrier.local.internal;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Message;
import org.nemorelay.seams.NoCarrierException;
import org.nemorelay.seams.NoRouteException;
import org.nemorelay.seams.PayloadTooLargeException;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.Subjects;
import org.nemorelay.seams.Subscription;
import org.nemorelay.seams.TimedOutException;
import org.nemorelay.seams.UnreachableException;
import org.nemorelay.seams.carrier.Bus;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.InFlight;

/**
 * Subjects, groups and replies within one process, with the manners of a bus: at most once, no storage, an order per
 * subscription. A subscription that falls {@value LocalSubscription#CAPACITY} messages behind loses what comes then.
 */
final class LocalBus implements Bus {
    private final String name;
    private final int maxPayload;
    private final Faults faults;
    private final Map<String, List<Group>> exact = new ConcurrentHashMap<>();
    private final List<Group> patterns = new CopyOnWriteArrayList<>();
    private final Set<CompletableFuture<byte[]>> asking = ConcurrentHashMap.newKeySet();
    private final Set<LocalSubscription> open = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    LocalBus(String name, int maxPayload, Faults faults) {
        this.name = name;
        this.maxPayload = maxPayload;
        this.faults = faults;
    }

    @Override
    public void publish(Message message) {
        Subjects.validate(message.subject());
        send(new Delivery(message, Optional.empty()));
    }

    /** How many subscriptions were offered the message. */
    private int send(Delivery delivery) {
        Message message = delivery.message();
        requireOpen();
        long size = size(message);
        if (size > maxPayload) {
            throw new PayloadTooLargeException(message.subject() + ": " + size
                    + " bytes, headers included, are more than the " + maxPayload + " that carrier " + name + " takes");
        }
        int receivers = 0;
        List<Group> direct = exact.get(message.subject());
        if (direct != null) {
            for (Group group : direct) {
                receivers += group.offer(delivery);
            }
        }
        for (Group group : patterns) {
            if (Subjects.matches(group.pattern(), message.subject())) {
                receivers += group.offer(delivery);
            }
        }
        return receivers;
    }

    private static long size(Message message) {
        long size = message.body().length;
        for (Map.Entry<String, String> header : message.headers().entrySet()) {
            size += header.getKey().length() + header.getValue().length();
        }
        return size;
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
    public Intake take(String subject, Optional<String> group, Sink sink, Runnable closeSink) {
        return attach(subject, group, delivery -> sink.accept(delivery.message().body(), delivery::answer), closeSink);
    }

    /**
     * Attaches a sink.
     *
     * @param group who shares it takes turns; empty for a subscription that gets everything
     * @param closeSink refuses further deliveries and waits for running ones
     */
    private LocalSubscription attach(
            String pattern, Optional<String> group, Consumer<Delivery> sink, Runnable closeSink) {
        Subjects.validate(pattern);
        requireOpen();
        LocalSubscription subscription =
                new LocalSubscription(pattern, sink, closeSink, faults, gone -> detach(pattern, gone));
        open.add(subscription);
        synchronized (this) {
            List<Group> groups = pattern.indexOf('*') >= 0
                    ? patterns
                    : exact.computeIfAbsent(pattern, subject -> new CopyOnWriteArrayList<>());
            Optional<Group> shared = groups.stream()
                    .filter(candidate -> group.isPresent()
                            && candidate.pattern().equals(pattern)
                            && candidate.name().equals(group))
                    .findFirst();
            if (shared.isPresent()) {
                shared.get().add(subscription);
            } else {
                groups.add(new Group(pattern, group, subscription));
            }
        }
        subscription.start();
        return subscription;
    }

    private synchronized void detach(String pattern, LocalSubscription gone) {
        open.remove(gone);
        List<Group> groups = pattern.indexOf('*') >= 0 ? patterns : exact.getOrDefault(pattern, List.of());
        for (Group group : groups) {
            if (group.remove(gone) && group.empty()) {
                groups.remove(group);
            }
        }
        if (groups.isEmpty()) {
            exact.remove(pattern);
        }
    }

    @Override
    public byte[] request(Context context, String subject, byte[] body, Duration bound) {
        Subjects.validate(subject);
        CompletableFuture<byte[]> reply = new CompletableFuture<>();
        asking.add(reply);
        try (Registration _ = context.onCancel(
                () -> reply.completeExceptionally(new CancelledException(subject + ": cancelled by the caller")))) {
            if (send(new Delivery(Message.of(subject, body), Optional.of(reply))) == 0) {
                throw new NoRouteException(subject + ": nobody listens on carrier " + name);
            }
            return reply.get(bound.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new TimedOutException(subject + ": no answer within " + bound);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancelledException(subject + ": interrupted while waiting for the answer");
        } catch (ExecutionException e) {
            throw (SeamException) e.getCause();
        } finally {
            asking.remove(reply);
        }
    }

    @Override
    public void flush(Duration bound) {
        requireOpen();
    }

    /** The link of a process to itself never goes away, so nothing is ever told. */
    @Override
    public Registration onReconnect(Runnable action) {
        return () -> {};
    }

    /** Ends every subscription after what it has, and every call that waits. */
    void close() {
        closed = true;
        asking.forEach(reply -> reply.completeExceptionally(
                new UnreachableException("carrier " + name + " was closed while the call ran")));
        List.copyOf(open).forEach(LocalSubscription::drain);
    }

    boolean connected() {
        return !closed;
    }

    private void requireOpen() {
        if (closed) {
            throw new NoCarrierException("carrier " + name + " is closed");
        }
    }
}
