package org.nemorelay.carrier.local.internal;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Subscriptions of one pattern that share its messages; without a name it has one member. */
final class Group {
    private final String pattern;
    private final Optional<String> name;
    private final List<LocalSubscription> members;
    private final AtomicInteger turn = new AtomicInteger();

    Group(String pattern, Optional<String> name, LocalSubscription first) {
        this.pattern = pattern;
        this.name = name;
        this.members = new CopyOnWriteArrayList<>(List.of(first));
    }

    String pattern() {
        return pattern;
    }

    Optional<String> name() {
        return name;
    }

    void add(LocalSubscription member) {
        members.add(member);
    }

    boolean remove(LocalSubscription member) {
        return members.remove(member);
    }

    boolean empty() {
        return members.isEmpty();
    }

    /** Hands the delivery to the member with the least to do, in turn among equals; how many got it. */
    int offer(Delivery delivery) {
        Object[] now = members.toArray();
        if (now.length == 0) {
            return 0;
        }
        int start = now.length == 1 ? 0 : Math.floorMod(turn.getAndIncrement(), now.length);
        LocalSubscription chosen = (LocalSubscription) now[start];
        for (int i = 1; i < now.length; i++) {
            LocalSubscription next = (LocalSubscription) now[(start + i) % now.length];
            if (next.waiting() < chosen.waiting()) {
                chosen = next;
            }
        }
        chosen.offer(delivery);
        return 1;
    }
}
