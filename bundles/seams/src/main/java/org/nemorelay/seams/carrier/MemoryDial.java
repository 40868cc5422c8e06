package org.nemorelay.seams.carrier;

import java.io.IOException;
import java.nio.channels.ByteChannel;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.NoDialerException;
import org.nemorelay.seams.RefusedException;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.UnreachableException;
import org.nemorelay.seams.dial.BackendClient;
import org.nemorelay.seams.dial.BackendClientFactory;
import org.nemorelay.seams.dial.BackendService;
import org.nemorelay.seams.dial.NodeEndpoints;
import org.nemorelay.seams.dial.WorkerDialers;

/**
 * Both halves of dialling within one process, for carriers that lead to a node themselves: two nodes may have the same
 * address. Safe for any thread.
 */
public final class MemoryDial implements BackendClientFactory, WorkerDialers, NodeEndpoints {
    private record Place(String nodeId, String address) {}

    private record Backend(BackendService service, Set<MemoryCall> calls) {}

    private final Faults faults;
    private final Map<Place, Backend> backends = new ConcurrentHashMap<>();
    private final Map<String, Consumer<ByteChannel>> servers = new ConcurrentHashMap<>();
    private final Map<String, Set<ByteChannel>> connections = new ConcurrentHashMap<>();

    private final Routing routing;

    /** What finds a backend. */
    public enum Routing {
        /** The node, and the address at it. */
        NODE_AND_ADDRESS,
        /** The node alone, as a tunnel that ends at one backend does. */
        NODE
    }

    public MemoryDial(Routing routing, Faults faults) {
        this.routing = routing;
        this.faults = faults;
    }

    private Place place(String nodeId, String address) {
        return new Place(nodeId, routing == Routing.NODE ? "its backend" : address);
    }

    @Override
    public Registration backend(String nodeId, String address, BackendService service) {
        Place place = place(nodeId, address);
        Backend backend = new Backend(service, ConcurrentHashMap.newKeySet());
        backends.put(place, backend);
        return () -> {
            backends.remove(place, backend);
            backend.calls().forEach(call -> call.fail(new UnreachableException(place + " went away during the call")));
        };
    }

    @Override
    public Registration server(String nodeId, Consumer<ByteChannel> connection) {
        servers.put(nodeId, connection);
        return () -> {
            servers.remove(nodeId, connection);
            forgetNode(nodeId);
        };
    }

    @Override
    public BackendClient newClient(String nodeId, String address, boolean parallel) {
        BackendClient client = new MemoryClient(place(nodeId, address));
        return parallel ? client : new SerialBackendClient(client);
    }

    @Override
    public Dialer dialerFor(String nodeId) {
        if (!servers.containsKey(nodeId)) {
            throw new NoDialerException("no dialer for node " + nodeId + ": it has no server in this process");
        }
        return new Dialer() {
            @Override
            public ByteChannel dial(Context context, String address) {
                return connect(context, nodeId);
            }

            @Override
            public boolean direct() {
                return false;
            }
        };
    }

    private ByteChannel connect(Context context, String nodeId) {
        context.check("dial to node " + nodeId);
        Consumer<ByteChannel> server = servers.get(nodeId);
        if (server == null) {
            throw new UnreachableException("the server of node " + nodeId + " has gone");
        }
        MemoryChannel.Pair pair = MemoryChannel.pair();
        Set<ByteChannel> open = connections.computeIfAbsent(nodeId, node -> ConcurrentHashMap.newKeySet());
        open.add(pair.near());
        Thread.ofVirtual().name("server of node " + nodeId).start(() -> {
            try {
                server.accept(pair.far());
            } catch (RuntimeException e) {
                faults.caught("server of node " + nodeId, "a connection", e);
            } finally {
                close(pair.far());
                open.remove(pair.near());
            }
        });
        return pair.near();
    }

    @Override
    public void forgetNode(String nodeId) {
        Set<ByteChannel> open = connections.remove(nodeId);
        if (open != null) {
            open.forEach(this::close);
        }
    }

    private void close(ByteChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            faults.warn("closing a connection", e.toString());
        }
    }

    /** Ends every connection and call. */
    public void close() {
        List.copyOf(connections.keySet()).forEach(this::forgetNode);
        backends.values()
                .forEach(backend -> backend.calls()
                        .forEach(
                                call -> call.fail(new UnreachableException("the carrier was closed during the call"))));
        backends.clear();
        servers.clear();
    }

    private final class MemoryClient implements BackendClient {
        private final Place place;
        private final Set<MemoryCall> own = ConcurrentHashMap.newKeySet();

        private MemoryClient(Place place) {
            this.place = place;
        }

        @Override
        public byte[] call(Context context, String method, byte[] request) {
            try (Call call = open(context, method)) {
                call.send(request);
                call.halfClose();
                return call.next()
                        .orElseThrow(() ->
                                new RefusedException("INTERNAL", method + " of " + place + " ended without a reply"));
            }
        }

        @Override
        public Call open(Context context, String method) {
            context.check(method);
            Backend backend = backends.get(place);
            if (backend == null) {
                throw new UnreachableException("nothing serves " + place.address() + " at node " + place.nodeId());
            }
            MemoryCall call = new MemoryCall(method, context, List.of(own, backend.calls()));
            call.start(backend.service(), faults);
            return call;
        }

        @Override
        public void close() {
            own.forEach(MemoryCall::close);
        }
    }

    /** One running call, in the sets of those who may end it. */
    private static final class MemoryCall implements BackendClient.Call {
        private final String method;
        private final MessagePipe up;
        private final MessagePipe down;
        private final List<Set<MemoryCall>> owners;
        private final Registration cancel;

        private MemoryCall(String method, Context context, List<Set<MemoryCall>> owners) {
            this.method = method;
            this.up = new MessagePipe(method, context);
            this.down = new MessagePipe(method, context);
            this.owners = owners;
            owners.forEach(owner -> owner.add(this));
            this.cancel = context.onCancel(this::close);
        }

        private void start(BackendService service, Faults faults) {
            Thread.ofVirtual().name("backend " + method).start(() -> {
                try {
                    service.serve(method, new BackendService.Exchange() {
                        @Override
                        public Optional<byte[]> next() {
                            return up.next();
                        }

                        @Override
                        public void send(byte[] message) {
                            if (!down.send(message)) {
                                throw new CancelledException(method + ": the client has gone");
                            }
                        }
                    });
                    down.end();
                } catch (SeamException e) {
                    down.fail(e);
                } catch (RuntimeException e) {
                    faults.caught("backend call", method, e);
                    down.fail(new RefusedException("UNKNOWN", method + " failed at the backend: " + e));
                } finally {
                    up.end();
                    over();
                }
            });
        }

        private void over() {
            cancel.close();
            owners.forEach(owner -> owner.remove(this));
        }

        private void fail(SeamException cause) {
            // The client's side first: a backend that sees its own end would otherwise end the call in order.
            down.fail(cause);
            up.fail(cause);
            over();
        }

        /** To a backend that has finished without reading everything: how it ended is for {@link #next} to tell. */
        @Override
        public void send(byte[] message) {
            up.send(message);
        }

        @Override
        public void halfClose() {
            up.end();
        }

        @Override
        public Optional<byte[]> next() {
            return down.next();
        }

        @Override
        public void close() {
            fail(new CancelledException(method + ": the call was cancelled"));
        }
    }
}
