package org.nemorelay.carrier.direct.internal;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.TimedOutException;
import org.nemorelay.seams.UnreachableException;
import org.nemorelay.seams.dial.WorkerDialers;

/** Connections to the address that the caller hands over, kept by node. */
final class DirectDialers implements WorkerDialers {
    private static final Duration LONGEST = Duration.ofSeconds(30);

    private final Map<String, Set<Tracked>> open = new ConcurrentHashMap<>();
    private final Consumer<String> onForget;

    /** @param onForget told of each node that is forgotten, since its clients and files are to go as well */
    DirectDialers(Consumer<String> onForget) {
        this.onForget = onForget;
    }

    @Override
    public Dialer dialerFor(String nodeId) {
        return new Dialer() {
            @Override
            public ByteChannel dial(Context context, String address) {
                return connect(context, nodeId, address);
            }

            @Override
            public boolean direct() {
                return true;
            }
        };
    }

    private ByteChannel connect(Context context, String nodeId, String address) {
        String what = "dial " + address + " of node " + nodeId;
        context.check(what);
        int colon = address.lastIndexOf(':');
        SocketChannel channel = null;
        try {
            InetSocketAddress target = new InetSocketAddress(
                    address.substring(0, Math.max(colon, 0)), Integer.parseInt(address.substring(colon + 1)));
            if (target.isUnresolved()) {
                throw new UnreachableException(what + ": the host is not known");
            }
            channel = SocketChannel.open();
            SocketChannel dialling = channel;
            try (Registration _ = context.onCancel(() -> close(dialling))) {
                channel.socket()
                        .connect(target, (int) context.remainingWithin(LONGEST).toMillis() + 1);
            }
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            return new Tracked(nodeId, channel);
        } catch (IllegalArgumentException e) {
            throw new UnreachableException(what + ": this is no host:port");
        } catch (IOException e) {
            close(channel);
            context.check(what);
            if (e instanceof java.net.SocketTimeoutException) {
                throw new TimedOutException(what + ": no answer within " + LONGEST.toSeconds() + " s");
            }
            throw new UnreachableException(what + ": " + e.getMessage());
        }
    }

    private static void close(SocketChannel channel) {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            // It was of no use.
        }
    }

    @Override
    public void forgetNode(String nodeId) {
        Set<Tracked> connections = open.remove(nodeId);
        if (connections != null) {
            connections.forEach(Tracked::close);
        }
        onForget.accept(nodeId);
    }

    void close() {
        List.copyOf(open.keySet()).forEach(this::forgetNode);
    }

    private final class Tracked implements ByteChannel {
        private final String nodeId;
        private final SocketChannel channel;

        private Tracked(String nodeId, SocketChannel channel) {
            this.nodeId = nodeId;
            this.channel = channel;
            open.computeIfAbsent(nodeId, node -> ConcurrentHashMap.newKeySet()).add(this);
        }

        @Override
        public int read(ByteBuffer target) throws IOException {
            return channel.read(target);
        }

        @Override
        public int write(ByteBuffer source) throws IOException {
            return channel.write(source);
        }

        @Override
        public boolean isOpen() {
            return channel.isOpen();
        }

        @Override
        public void close() {
            DirectDialers.close(channel);
            open.computeIfPresent(nodeId, (node, connections) -> {
                connections.remove(this);
                return connections.isEmpty() ? null : connections;
            });
        }
    }
}
