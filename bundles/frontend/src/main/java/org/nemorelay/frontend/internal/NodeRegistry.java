package org.nemorelay.frontend.internal;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.nemorelay.seams.dial.NodeAddresses;

/**
 * Who has registered (distributed-seams 8.1), in memory. A node's state changes by what it or an administrator does, and
 * by a positive "no route"; never because nothing is heard of it. Safe for any thread.
 */
final class NodeRegistry implements NodeAddresses {
    /** What a node is. */
    enum Type {
        BACKEND,
        AGENT
    }

    /** What a node is at. */
    enum Status {
        HEALTHY,
        /** Nobody listened for it; its next heartbeat reverses this. */
        UNHEALTHY,
        /** It said that it leaves. */
        OFFLINE,
        /** An administrator wants it empty; registering again does not change that. */
        DRAINING
    }

    /**
     * @param address where it reaches itself, for people
     * @param httpAddress of its own server; empty for none
     * @param incarnation changes with the node's process
     */
    record Node(
            String id,
            String name,
            Type type,
            String address,
            String httpAddress,
            Status status,
            String incarnation,
            Instant lastHeartbeat) {
        private Node with(Status next) {
            return new Node(id, name, type, address, httpAddress, next, incarnation, lastHeartbeat);
        }

        private Node heard(Instant now) {
            return new Node(
                    id,
                    name,
                    type,
                    address,
                    httpAddress,
                    status == Status.UNHEALTHY || status == Status.OFFLINE ? Status.HEALTHY : status,
                    incarnation,
                    now);
        }
    }

    private final Map<String, Node> nodes = new HashMap<>();

    /** Registers; a known name keeps its id, and its draining. */
    synchronized Node register(
            String name, Type type, String address, String httpAddress, String incarnation, Instant now) {
        Optional<Node> known =
                nodes.values().stream().filter(node -> node.name().equals(name)).findFirst();
        Node node = new Node(
                known.map(Node::id).orElseGet(() -> UUID.randomUUID().toString()),
                name,
                type,
                address,
                httpAddress,
                known.filter(before -> before.status() == Status.DRAINING)
                        .map(Node::status)
                        .orElse(Status.HEALTHY),
                incarnation,
                now);
        nodes.put(node.id(), node);
        return node;
    }

    /** False when the node is not known, or is another process than the one that registered. */
    synchronized boolean heartbeat(String id, String incarnation, Instant now) {
        Node node = nodes.get(id);
        if (node == null || !incarnation.isEmpty() && !node.incarnation().equals(incarnation)) {
            return false;
        }
        nodes.put(id, node.heard(now));
        return true;
    }

    /** On a positive "no route", and nothing else: the status alone. */
    boolean markUnhealthy(String id) {
        return change(id, node -> node.status() == Status.HEALTHY ? node.with(Status.UNHEALTHY) : node);
    }

    boolean drain(String id) {
        return change(id, node -> node.with(Status.DRAINING));
    }

    boolean resume(String id) {
        return change(id, node -> node.status() == Status.DRAINING ? node.with(Status.HEALTHY) : node);
    }

    boolean leave(String id) {
        return change(id, node -> node.with(Status.OFFLINE));
    }

    private synchronized boolean change(String id, UnaryOperator<Node> change) {
        return nodes.computeIfPresent(id, (key, node) -> change.apply(node)) != null;
    }

    synchronized Optional<Node> remove(String id) {
        return Optional.ofNullable(nodes.remove(id));
    }

    synchronized Optional<Node> node(String id) {
        return Optional.ofNullable(nodes.get(id));
    }

    /** Backend nodes that take requests. */
    synchronized List<Node> serving() {
        return nodes.values().stream()
                .filter(node -> node.type() == Type.BACKEND && node.status() == Status.HEALTHY)
                .sorted(Comparator.comparing(Node::name))
                .toList();
    }

    synchronized List<Node> all() {
        List<Node> all = new ArrayList<>(nodes.values());
        all.sort(Comparator.comparing(Node::name));
        return all;
    }

    @Override
    public Optional<String> serverAddress(String nodeId) {
        return node(nodeId).map(Node::httpAddress).filter(address -> !address.isEmpty());
    }
}
