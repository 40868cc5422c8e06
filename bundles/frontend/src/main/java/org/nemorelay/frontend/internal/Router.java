package org.nemorelay.frontend.internal;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.nemorelay.backend.Methods;
import org.nemorelay.backend.ModelOptions;
import org.nemorelay.backend.Result;
import org.nemorelay.frontend.internal.NodeRegistry.Node;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.NoRouteException;
import org.nemorelay.seams.RefusedException;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.control.NodeCommandSender;
import org.nemorelay.seams.control.Replica;
import org.nemorelay.seams.dial.BackendClient;
import org.nemorelay.seams.dial.BackendClientFactory;
import org.nemorelay.seams.staging.FileStager;
import org.nemorelay.seams.staging.TransferProgress;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;
import org.nemorelay.workerctl.BackendInstallReply;
import org.nemorelay.workerctl.BackendInstallRequest;

/** Which replica a request takes. Safe for any thread; calls block while a model is loaded. */
final class Router {
    private static final String TARGET = "nemo_relay.frontend";
    private static final Duration LOAD = Duration.ofMinutes(5);

    private final NodeRegistry registry;
    private final NodeCommandSender commands;
    private final BackendClientFactory clients;
    private final FileStager stager;
    private final EventLog log;
    private final List<Loaded> replicas = new ArrayList<>();
    private final Map<String, ReentrantLock> loading = new ConcurrentHashMap<>();
    private long turn;

    Router(
            NodeRegistry registry,
            NodeCommandSender commands,
            BackendClientFactory clients,
            FileStager stager,
            EventLog log) {
        this.registry = registry;
        this.commands = commands;
        this.clients = clients;
        this.stager = stager;
        this.log = log;
    }

    /** A replica that has its model loaded. */
    private static final class Loaded {
        private final String nodeId;
        private final Replica replica;
        private final BackendClient client;
        private int inFlight;
        private long lastTurn;
        /** The last call did not reach it. Others are preferred; it stays what it is. */
        private boolean doubted;

        private Loaded(String nodeId, Replica replica, BackendClient client) {
            this.nodeId = nodeId;
            this.replica = replica;
            this.client = client;
        }
    }

    /** A request's hold on a replica, to be closed when the request has ended. */
    final class Lease implements AutoCloseable {
        private final Loaded loaded;
        private boolean over;

        private Lease(Loaded loaded) {
            this.loaded = loaded;
        }

        BackendClient client() {
            return loaded.client;
        }

        String nodeId() {
            return loaded.nodeId;
        }

        /** An answer came. */
        void answered() {
            synchronized (Router.this) {
                loaded.doubted = false;
            }
        }

        /** It could not be reached, or the connection broke: no verdict, and a reason to try another first. */
        void unreachable() {
            synchronized (Router.this) {
                loaded.doubted = true;
            }
        }

        /** The backend says that it does not have the model. */
        void gone() {
            forget(loaded);
        }

        @Override
        public void close() {
            synchronized (Router.this) {
                if (over) {
                    return;
                }
                over = true;
                loaded.inFlight--;
                Router.this.notifyAll();
            }
        }
    }

    /**
     * A replica of the model, outside the nodes to avoid. Loaded ones that were reached last time come first, the least busy
     * before others; then a node that has it not loaded yet; then those in doubt.
     *
     * @throws RelayException UNAVAILABLE when no node can take the model, with each node's reason
     */
    Lease route(Context context, ModelEntry model, Set<String> avoid) {
        Optional<Lease> ready = pick(model, avoid, false);
        if (ready.isPresent()) {
            return ready.get();
        }
        List<String> reasons = new ArrayList<>();
        ReentrantLock lock = loading.computeIfAbsent(model.name(), name -> new ReentrantLock());
        lock.lock();
        try {
            ready = pick(model, avoid, false);
            if (ready.isPresent()) {
                return ready.get();
            }
            for (Node node : candidates(model, avoid)) {
                context.check("loading model " + model.name());
                try {
                    return load(context, model, node);
                } catch (NoRouteException e) {
                    registry.markUnhealthy(node.id());
                    reasons.add(node.name() + ": " + e.getMessage());
                } catch (SeamException | RelayException e) {
                    reasons.add(node.name() + ": " + e.getMessage());
                }
            }
        } finally {
            lock.unlock();
        }
        return pick(model, avoid, true)
                .orElseThrow(() -> new RelayException(
                        FailureKind.UNAVAILABLE,
                        "no node can serve model " + model.name() + " now"
                                + (reasons.isEmpty()
                                        ? ": no healthy node is left"
                                        : ": " + String.join("; ", reasons))));
    }

    private synchronized Optional<Lease> pick(ModelEntry model, Set<String> avoid, boolean doubted) {
        Set<String> serving =
                Set.copyOf(registry.serving().stream().map(Node::id).toList());
        Optional<Loaded> best = replicas.stream()
                .filter(loaded -> loaded.replica.modelName().equals(model.name()))
                .filter(loaded -> loaded.doubted == doubted)
                .filter(loaded -> serving.contains(loaded.nodeId) && !avoid.contains(loaded.nodeId))
                .min(Comparator.<Loaded>comparingInt(loaded -> loaded.inFlight)
                        .thenComparingLong(loaded -> loaded.lastTurn));
        return best.map(this::lease);
    }

    private synchronized Lease lease(Loaded loaded) {
        loaded.inFlight++;
        loaded.lastTurn = ++turn;
        return new Lease(loaded);
    }

    /** Nodes without the model, the emptiest first. */
    private synchronized List<Node> candidates(ModelEntry model, Set<String> avoid) {
        return registry.serving().stream()
                .filter(node -> !avoid.contains(node.id()))
                .filter(node -> replicas.stream()
                        .noneMatch(loaded -> loaded.nodeId.equals(node.id())
                                && loaded.replica.modelName().equals(model.name())))
                .sorted(Comparator.comparingLong((Node node) -> replicas.stream()
                        .filter(loaded -> loaded.nodeId.equals(node.id()))
                        .count()))
                .toList();
    }

    private Lease load(Context context, ModelEntry model, Node node) {
        BackendInstallReply reply = commands.installBackend(
                node.id(), BackendInstallRequest.of(model.backend(), model.name(), 0), event -> {});
        if (!reply.success()) {
            throw new RelayException(FailureKind.UPSTREAM, "backend " + model.backend() + ": " + reply.error());
        }
        String file = "";
        if (!model.file().isEmpty()) {
            Path local = Path.of(model.file());
            file = stager.ensureRemote(
                    context,
                    node.id(),
                    local,
                    "models/" + model.name() + "/" + local.getFileName(),
                    TransferProgress.none());
        }
        BackendClient client = clients.newClient(node.id(), reply.address(), true);
        try {
            Result result = decoded(client.call(
                    context.withTimeout(LOAD),
                    Methods.LOAD_MODEL,
                    new ModelOptions(model.name(), model.contextSize(), file).encode()));
            if (!result.success()) {
                throw new RelayException(FailureKind.UPSTREAM, "the model was not loaded: " + result.message());
            }
        } catch (RuntimeException e) {
            client.close();
            throw e;
        }
        Loaded loaded = new Loaded(
                node.id(), new Replica(model.name(), 0, reply.address(), "", "", reply.processInstance()), client);
        log.log(Level.INFO, TARGET, "model_loaded", "Model loaded", "model", model.name(), "node", node.name());
        synchronized (this) {
            replicas.add(loaded);
            return lease(loaded);
        }
    }

    private static Result decoded(byte[] reply) {
        try {
            return Result.decode(reply);
        } catch (IllegalArgumentException e) {
            throw new RefusedException("UNDECODABLE", "the backend answered with something else: " + e.getMessage());
        }
    }

    private void forget(Loaded loaded) {
        boolean there;
        synchronized (this) {
            there = replicas.remove(loaded);
        }
        if (there) {
            loaded.client.close();
        }
    }

    /** The node begins anew, or has left: nothing that was loaded there is. */
    void forgetNode(String nodeId) {
        List<Loaded> gone;
        synchronized (this) {
            gone = replicas.stream()
                    .filter(loaded -> loaded.nodeId.equals(nodeId))
                    .toList();
        }
        gone.forEach(this::forget);
    }

    /** Requests that a node works on for this frontend. */
    synchronized int inFlight(String nodeId) {
        return replicas.stream()
                .filter(loaded -> loaded.nodeId.equals(nodeId))
                .mapToInt(loaded -> loaded.inFlight)
                .sum();
    }

    /** The models that are loaded at a node, for the nodes' API. */
    synchronized List<String> models(String nodeId) {
        return replicas.stream()
                .filter(loaded -> loaded.nodeId.equals(nodeId))
                .map(loaded -> loaded.replica.modelName())
                .sorted()
                .toList();
    }

    void close() {
        List<Loaded> all;
        synchronized (this) {
            all = List.copyOf(replicas);
        }
        all.forEach(this::forget);
    }
}
