package org.nemorelay.carrier.direct.internal;

import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.RefusedException;
import org.nemorelay.seams.UnreachableException;
import org.nemorelay.seams.carrier.SerialBackendClient;
import org.nemorelay.seams.dial.BackendClient;
import org.nemorelay.seams.dial.BackendClientFactory;

/** Clients of backends; those of one node and address share a channel, which lives as long as the last of them. */
final class GrpcDial implements BackendClientFactory {
    private static final Metadata.Key<String> AUTHORIZATION =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    private static final long END_SECONDS = 3;

    private record Place(String nodeId, String address) {
        @Override
        public String toString() {
            return address + " of node " + nodeId;
        }
    }

    private final Transport transport;
    private final String token;
    private final Map<Place, ManagedChannel> channels = new HashMap<>();
    private final Map<Place, Integer> clients = new HashMap<>();
    private boolean closed;

    /** @param token sent as bearer; empty for none */
    GrpcDial(Transport transport, String token) {
        this.transport = transport;
        this.token = token;
    }

    @Override
    public BackendClient newClient(String nodeId, String address, boolean parallel) {
        Place place = new Place(nodeId, address);
        synchronized (this) {
            clients.merge(place, 1, Integer::sum);
        }
        BackendClient client = new Client(place);
        return parallel ? client : new SerialBackendClient(client);
    }

    private synchronized ManagedChannel channel(Place place) {
        if (closed) {
            throw new UnreachableException("the carrier is closed: no call to " + place);
        }
        return channels.computeIfAbsent(place, there -> transport.channel(there.address()));
    }

    private synchronized void left(Place place) {
        if (clients.merge(place, -1, Integer::sum) <= 0) {
            clients.remove(place);
            end(channels.remove(place));
        }
    }

    private static void end(ManagedChannel channel) {
        if (channel != null) {
            Transport.visit(channel::shutdownNow);
        }
    }

    /** Closes what is open to the node; clients that are still used dial anew. */
    synchronized void forgetNode(String nodeId) {
        for (Place place : List.copyOf(channels.keySet())) {
            if (place.nodeId().equals(nodeId)) {
                end(channels.remove(place));
            }
        }
    }

    /** How many channels there are. */
    synchronized int channelCount() {
        return channels.size();
    }

    /** Returns when the channels have ended, or after a bounded wait: their classes go with the bundle. */
    void close() {
        List<ManagedChannel> last;
        synchronized (this) {
            closed = true;
            last = List.copyOf(channels.values());
            channels.clear();
        }
        last.forEach(GrpcDial::end);
        try {
            for (ManagedChannel channel : last) {
                channel.awaitTermination(END_SECONDS, TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private final class Client implements BackendClient {
        private final Place place;
        private final Set<GrpcCall> running = ConcurrentHashMap.newKeySet();
        private boolean gone;

        private Client(Place place) {
            this.place = place;
        }

        @Override
        public byte[] call(Context context, String method, byte[] request) {
            try (Call call = open(context, method)) {
                call.send(request);
                call.halfClose();
                return call.next()
                        .orElseThrow(() ->
                                new RefusedException("INTERNAL", method + " at " + place + " ended without a reply"));
            }
        }

        @Override
        public Call open(Context context, String method) {
            context.check(method + " at " + place);
            synchronized (this) {
                if (gone) {
                    throw new CancelledException(method + " at " + place + ": the client is closed");
                }
            }
            ClientCall<byte[], byte[]> call =
                    channel(place).newCall(Transport.method(method), GrpcCall.bounded(Transport.options(), context));
            Metadata headers = new Metadata();
            if (!token.isEmpty()) {
                headers.put(AUTHORIZATION, "Bearer " + token);
            }
            GrpcCall running = new GrpcCall(method + " at " + place, call, this.running);
            running.start(headers, context);
            return running;
        }

        @Override
        public void close() {
            synchronized (this) {
                if (gone) {
                    return;
                }
                gone = true;
            }
            running.forEach(GrpcCall::close);
            left(place);
        }
    }
}
