package org.nemorelay.carriers.internal;

import java.nio.channels.ByteChannel;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.NotServedException;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.LeasedCall;
import org.nemorelay.seams.dial.BackendClient;
import org.nemorelay.seams.dial.BackendClientFactory;
import org.nemorelay.seams.dial.BackendService;
import org.nemorelay.seams.dial.ModelProber;
import org.nemorelay.seams.dial.NodeEndpoints;
import org.nemorelay.seams.dial.WorkerDialers;

/**
 * Dialling over the current carrier. A client outlives a switch: its next call goes over the new carrier, a running one
 * stays where it began. Endpoints stay on a carrier as long as it is there, so that what runs on them ends by itself.
 */
final class DialFacade implements BackendClientFactory, ModelProber, WorkerDialers, NodeEndpoints {
    private final Lane lane;

    DialFacade(Lane lane) {
        this.lane = lane;
    }

    @Override
    public BackendClient newClient(String nodeId, String address, boolean parallel) {
        Client client = new Client(carrier -> carrier.backendClients().newClient(nodeId, address, parallel));
        client.begin().done();
        return client;
    }

    @Override
    public Finding probe(Context context, String nodeId, String address) {
        return lane.call(carrier -> carrier.prober().probe(context, nodeId, address));
    }

    @Override
    public Dialer dialerFor(String nodeId) {
        lane.run(carrier -> carrier.dialers().dialerFor(nodeId));
        return new Dialer() {
            @Override
            public ByteChannel dial(Context context, String address) {
                return lane.call(carrier -> carrier.dialers().dialerFor(nodeId).dial(context, address));
            }

            @Override
            public boolean direct() {
                return lane.call(carrier -> carrier.dialers().dialerFor(nodeId).direct());
            }
        };
    }

    @Override
    public void forgetNode(String nodeId) {
        lane.standing().carriers().forEach(carrier -> carrier.dialers().forgetNode(nodeId));
    }

    @Override
    public Registration backend(String nodeId, String address, BackendService service) {
        return stand(carrier -> carrier.endpoints().backend(nodeId, address, service));
    }

    @Override
    public Registration server(String nodeId, Consumer<ByteChannel> connection) {
        return stand(carrier -> carrier.endpoints().server(nodeId, connection));
    }

    private Registration stand(Function<Carrier, Registration> put) {
        Standing.Thing thing = carrier -> {
            try {
                return Standing.Foothold.closing(put.apply(carrier)::close);
            } catch (NotServedException dialsAddresses) {
                return Standing.Foothold.closing(() -> {});
            }
        };
        lane.standing().add(thing);
        return () -> lane.standing().drop(thing);
    }

    /** A client on the carrier of the last call; one of an earlier carrier is closed when its last call ends. */
    private final class Client implements BackendClient {
        private final Function<Carrier, BackendClient> make;
        private Optional<On> now = Optional.empty();
        private boolean closed;

        private Client(Function<Carrier, BackendClient> make) {
            this.make = make;
        }

        private final class On {
            private final Carrier carrier;
            private final BackendClient client;
            private int calls;
            private boolean last;

            private On(Carrier carrier) {
                this.carrier = carrier;
                this.client = make.apply(carrier);
            }

            private void done() {
                boolean close;
                synchronized (Client.this) {
                    calls--;
                    close = last && calls == 0;
                }
                lane.giveBack(carrier);
                if (close) {
                    client.close();
                }
            }
        }

        private On begin() {
            Carrier carrier = lane.lease();
            Optional<On> idle = Optional.empty();
            On on;
            try {
                synchronized (this) {
                    if (closed) {
                        throw new CancelledException("the client is closed");
                    }
                    if (now.isEmpty() || now.get().carrier != carrier) {
                        On next = new On(carrier);
                        idle = now.filter(old -> old.calls == 0);
                        now.ifPresent(old -> old.last = true);
                        now = Optional.of(next);
                    }
                    on = now.get();
                    on.calls++;
                }
            } catch (RuntimeException e) {
                lane.giveBack(carrier);
                throw e;
            }
            idle.ifPresent(old -> old.client.close());
            return on;
        }

        @Override
        public byte[] call(Context context, String method, byte[] request) {
            On on = begin();
            try {
                return on.client.call(context, method, request);
            } finally {
                on.done();
            }
        }

        @Override
        public Call open(Context context, String method) {
            On on = begin();
            try {
                return new LeasedCall(on.client.open(context, method), on::done);
            } catch (RuntimeException e) {
                on.done();
                throw e;
            }
        }

        @Override
        public void close() {
            Optional<On> last;
            synchronized (this) {
                closed = true;
                last = now;
                now = Optional.empty();
            }
            last.ifPresent(on -> on.client.close());
        }
    }
}
