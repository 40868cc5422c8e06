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

    /** Hands the delivery to the member with the least to do, in turn among equals; how many took it. */
    int offer(Delivery delivery) {
        Object[] now = members.toArray();
        int start = now.length < 2 ? 0 : Math.floorMod(turn.getAndIncrement(), now.length);
        int chosen = start;
        for (int i = 1; i < now.length; i++) {
            int next = (start + i) % now.length;
            if (((LocalSubscription) now[next]).waiting() < ((LocalSubscription) now[chosen]).waiting()) {
                chosen = next;
            }
        }
        for (int i = 0; i < now.length; i++) {
            if (((LocalSubscription) now[(chosen + i) % now.length]).offer(delivery)) {
                return 1;
            }
        }
        return 0;
    }
}
