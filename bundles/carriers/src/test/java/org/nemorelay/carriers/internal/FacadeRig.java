package org.nemorelay.carriers.internal;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.nemorelay.carrier.local.internal.LocalCarrier;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Subscription;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.ControlTimeouts;
import org.nemorelay.seams.carrier.Exchange;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.WorkRoutes;
import org.nemorelay.testkit.Await;
import org.nemorelay.testkit.Capability;
import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.Recorder;

/** The facades over two local carriers, {@code one} in use; a switching rig goes from one to the other all the time. */
final class FacadeRig implements CarrierRig {
    static final int CARRIER_PAYLOAD = 1024 * 1024;

    private final Recorder recorder = new Recorder();
    private final Faults faults = new Faults(recorder, recorder);
    final Facades facades = new Facades(faults);
    final Switch carriers = new Switch(facades, "one", "none", faults);
    final LocalCarrier one = local("one");
    final LocalCarrier two = local("two");
    private Optional<Thread> swapper = Optional.empty();
    private volatile boolean closed;

    FacadeRig() {
        carriers.come(one);
        // The last of its lanes to get the carrier.
        Await.until("a carrier is current", () -> facades.staging().current().isPresent());
        carriers.come(two);
    }

    static FacadeRig switching() {
        FacadeRig rig = new FacadeRig();
        rig.swapper = Optional.of(Thread.ofVirtual().name("swapper").start(rig::swap));
        return rig;
    }

    private void swap() {
        for (int i = 0; !closed; i++) {
            carriers.use(i % 2 == 0 ? "two" : "one", Duration.ofSeconds(30));
        }
    }

    LocalCarrier local(String name) {
        return new LocalCarrier(
                name,
                CARRIER_PAYLOAD,
                WorkRoutes.standard(),
                ControlTimeouts.atMost(BOUND),
                new Faults(recorder, recorder));
    }

    @Override
    public Carrier here() {
        return facades;
    }

    @Override
    public Set<Capability> capabilities() {
        return EnumSet.complementOf(EnumSet.of(Capability.LINK_CAN_BREAK));
    }

    @Override
    public Recorder recorder() {
        return recorder;
    }

    @Override
    public int maxPayload() {
        return CARRIER_PAYLOAD - Order.HEADER.length() - Order.LENGTH;
    }

    @Override
    public int maxWork() {
        return CARRIER_PAYLOAD;
    }

    @Override
    public Exchange exchange() {
        return new Exchange() {
            private <R> R with(Function<Exchange, R> call) {
                return facades.bus().call(now -> call.apply(now == two ? two.exchange() : one.exchange()));
            }

            @Override
            public byte[] request(Context context, String subject, byte[] body, Duration bound) {
                return with(exchange -> exchange.request(context, subject, body, bound));
            }

            @Override
            public void post(String subject, byte[] body) {
                with(exchange -> {
                    exchange.post(subject, body);
                    return subject;
                });
            }

            @Override
            public Subscription listen(String subject, java.util.function.Consumer<byte[]> handler) {
                return with(exchange -> exchange.listen(subject, handler));
            }
        };
    }

    @Override
    public void close() {
        closed = true;
        swapper.ifPresent(thread -> {
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        carriers.close();
        facades.close();
        one.close();
        two.close();
    }
}
