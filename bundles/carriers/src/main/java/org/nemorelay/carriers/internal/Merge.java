package org.nemorelay.carriers.internal;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.nemorelay.seams.Message;

/**
 * Makes one stream of what a subscription gets over several carriers at a time: each message once, those of a publisher
 * in their order. Pure: no threads, the clock is passed in; its owner calls one method at a time.
 *
 * <p>A way is one attachment of this subscription and one epoch of the publisher. On one way messages arrive in order and
 * without a gap from the first one on. So a way is <em>joined</em>, and delivers what is new on it, once its first message
 * is known to be no further than what was delivered; until then its messages are held. That comes about because sender
 * and receiver use the old way until the new one stands. When it does not (a publisher that was silent meanwhile), the
 * way is joined after a while in which nothing else came from this publisher.
 */
final class Merge {
    /** How many messages one way holds at most. */
    private static final int MOST_HELD = 65_536;
    /** How many publishers are remembered; the one that was silent longest is forgotten first. */
    private static final int MOST_SOURCES = 4_096;

    private record Held(long number, boolean alsoOnAnOlderWay, Message message) {}

    private static final class Way {
        private final int attachment;
        private final int epoch;
        private final Deque<Held> held = new ArrayDeque<>();
        private boolean joined;

        private Way(int attachment, int epoch) {
            this.attachment = attachment;
            this.epoch = epoch;
        }
    }

    private static final class Source {
        private final List<Way> ways = new ArrayList<>();
        private long delivered = -1;
        private long lastChange;
    }

    private final Consumer<Message> handler;
    private final long holdNanos;
    /** Oldest first. */
    private final List<Integer> attachments = new ArrayList<>();

    private final Map<Long, Source> sources = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Source> eldest) {
            return size() > MOST_SOURCES;
        }
    };

    private int lastAttachment;

    Merge(Consumer<Message> handler, long holdNanos) {
        this.handler = handler;
        this.holdNanos = holdNanos;
    }

    /** A new attachment begins; its number. */
    int attach() {
        attachments.add(++lastAttachment);
        return lastAttachment;
    }

    /**
     * Takes a message that an attachment got.
     *
     * @return whether it is held, so that {@link #expire} must be called later
     */
    boolean offer(int attachment, Message message, long now) {
        if (!attachments.contains(attachment)) {
            return false;
        }
        Optional<Order> order = Order.of(message);
        if (order.isEmpty()) {
            // Nothing tells a double of another product's message, so only one carrier's are taken.
            if (attachments.getFirst() == attachment) {
                handler.accept(message);
            }
            return false;
        }
        return offer(attachment, order.get(), message, now);
    }

    private boolean offer(int attachment, Order order, Message message, long now) {
        Source source = sources.computeIfAbsent(order.publisher(), publisher -> new Source());
        Way way = null;
        for (int i = 0; i < source.ways.size(); i++) {
            Way candidate = source.ways.get(i);
            if (candidate.attachment == attachment && candidate.epoch == order.epoch()) {
                way = candidate;
            }
        }
        if (way == null) {
            way = new Way(attachment, order.epoch());
            way.joined = source.ways.isEmpty() && attachments.getFirst() == attachment && !order.alsoOnAnOlderWay();
            source.ways.add(way);
        }
        if (way.joined) {
            if (order.number() > source.delivered) {
                deliver(source, order.number(), message, now);
                settle(source, now);
            }
            return false;
        }
        if (order.number() <= source.delivered) {
            join(source, way);
            return false;
        }
        if (way.held.isEmpty()) {
            source.lastChange = now;
        }
        way.held.add(new Held(order.number(), order.alsoOnAnOlderWay(), message));
        if (way.held.size() > MOST_HELD) {
            release(source, List.of(way), now);
        }
        return true;
    }

    private void deliver(Source source, long number, Message message, long now) {
        source.delivered = number;
        source.lastChange = now;
        handler.accept(Order.stripped(message));
    }

    /** What was delivered may have caught up with ways that hold. */
    private void settle(Source source, long now) {
        if (source.ways.size() < 2) {
            return;
        }
        for (boolean changed = true; changed; ) {
            changed = false;
            for (Way way : List.copyOf(source.ways)) {
                if (!way.joined && !way.held.isEmpty() && way.held.getFirst().number() <= source.delivered) {
                    join(source, way);
                    flush(source, way, now);
                    changed = true;
                }
            }
        }
    }

    /** Ways of epochs before the last but one carry nothing more. */
    private static void join(Source source, Way way) {
        way.joined = true;
        source.ways.removeIf(old -> old.epoch < way.epoch - 1 && old.held.isEmpty());
    }

    private void flush(Source source, Way way, long now) {
        while (!way.held.isEmpty()) {
            Held next = way.held.remove();
            if (next.number() > source.delivered) {
                deliver(source, next.number(), next.message(), now);
            }
        }
    }

    /** Joins the ways as they are, what they hold in the publisher's order. */
    private void release(Source source, List<Way> ways, long now) {
        TreeMap<Long, Message> all = new TreeMap<>();
        for (Way way : ways) {
            way.held.forEach(held -> all.putIfAbsent(held.number(), held.message()));
            way.held.clear();
            join(source, way);
        }
        all.forEach((number, message) -> {
            if (number > source.delivered) {
                deliver(source, number, message, now);
            }
        });
        settle(source, now);
    }

    /** The attachment has handed over its last message. */
    void detach(int attachment, long now) {
        attachments.remove((Integer) attachment);
        for (Source source : List.copyOf(sources.values())) {
            List<Way> ended = source.ways.stream()
                    .filter(way -> way.attachment == attachment)
                    .toList();
            if (ended.stream().anyMatch(way -> !way.held.isEmpty())) {
                release(source, ended, now);
            }
            source.ways.removeAll(ended);
            if (!source.ways.isEmpty() && source.ways.stream().noneMatch(way -> way.joined)) {
                Way oldest = Collections.min(source.ways, Comparator.comparingInt(way -> way.epoch));
                if (!oldest.held.getFirst().alsoOnAnOlderWay()) {
                    release(source, List.of(oldest), now);
                }
            }
        }
    }

    /** Joins what has held for long while nothing else came; whether something still holds. */
    boolean expire(long now) {
        boolean holds = false;
        for (Source source : List.copyOf(sources.values())) {
            List<Way> holding =
                    source.ways.stream().filter(way -> !way.held.isEmpty()).toList();
            if (!holding.isEmpty() && now - source.lastChange >= holdNanos) {
                release(source, holding, now);
            } else {
                holds |= !holding.isEmpty();
            }
        }
        return holds;
    }
}
