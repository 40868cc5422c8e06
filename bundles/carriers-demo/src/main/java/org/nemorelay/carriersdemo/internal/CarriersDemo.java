package org.nemorelay.carriersdemo.internal;

import java.io.IOException;
import java.time.Duration;
import java.util.Dictionary;
import java.util.Hashtable;
import java.util.List;
import java.util.Optional;
import org.nemorelay.carriers.Carriers;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.seams.Broadcaster;
import org.nemorelay.seams.WorkConsumer;
import org.nemorelay.seams.WorkQueue;
import org.nemorelay.seams.control.ControlServers;
import org.nemorelay.seams.control.NodeCommandSender;
import org.nemorelay.telemetry.ProcessControl;
import org.osgi.service.cm.Configuration;
import org.osgi.service.cm.ConfigurationAdmin;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;

/** Runs the demo on a thread of its own and ends the process with its outcome. */
@Component(
        service = {},
        immediate = true)
public final class CarriersDemo {
    private static final String ANY_BUNDLE = "?";
    private static final Duration SWITCH = Duration.ofSeconds(20);
    /** Enough that every change happens under traffic. */
    private static final int BETWEEN = 50;

    private final ConfigurationAdmin admin;
    private final Carriers carriers;
    private final Broadcaster events;
    private final WorkQueue queue;
    private final WorkConsumer consumer;
    private final ControlServers servers;
    private final NodeCommandSender commands;
    private final Thread thread;

    @Activate
    public CarriersDemo(
            @Reference ConfigurationAdmin admin,
            @Reference LaunchOptions options,
            @Reference ProcessControl process,
            @Reference Carriers carriers,
            @Reference Broadcaster events,
            @Reference WorkQueue queue,
            @Reference WorkConsumer consumer,
            @Reference ControlServers servers,
            @Reference NodeCommandSender commands) {
        this.admin = admin;
        this.carriers = carriers;
        this.events = events;
        this.queue = queue;
        this.consumer = consumer;
        this.servers = servers;
        this.commands = commands;
        this.thread = Thread.ofPlatform().daemon().name("demo").start(() -> {
            try {
                process.ready();
                process.exit(run(options) ? 0 : 1);
            } catch (RelayException e) {
                process.fail(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (IOException | RuntimeException e) {
                process.fail(new RelayException(FailureKind.INTERNAL, "the demo failed: " + e, e));
            }
        });
    }

    private boolean run(LaunchOptions options) throws InterruptedException, IOException {
        int swaps = options.flag("swaps").map(Integer::parseInt).orElse(20);
        Drawing drawing = new Drawing(options.flag("json").isPresent());
        Optional<NatsProcess> nats = NatsProcess.start(options.environment());
        try {
            List<String> names = List.of("local", nats.isPresent() ? "nats" : "local-2");
            instance("local", "local", new Hashtable<>());
            if (nats.isPresent()) {
                Dictionary<String, Object> properties = new Hashtable<>();
                properties.put("servers", new String[] {nats.get().url()});
                instance("nats", "nats", properties);
            } else {
                instance("local", "local-2", new Hashtable<>());
            }
            want(names.getFirst());
            drawing.begin(names, nats.isPresent());
            try (Traffic traffic = new Traffic(events, queue, consumer, servers, commands)) {
                for (int i = 1; i <= swaps; i++) {
                    awaitTraffic(traffic);
                    String from = names.get((i - 1) % 2);
                    String to = names.get(i % 2);
                    long begun = System.nanoTime();
                    want(to);
                    drawing.swapped(i, swaps, from, to, (System.nanoTime() - begun) / 1e6, traffic);
                }
                awaitTraffic(traffic);
                Traffic.Counts counts = traffic.end();
                drawing.end(swaps, counts, names);
                return counts.flawless();
            }
        } finally {
            nats.ifPresent(NatsProcess::close);
        }
    }

    private void instance(String type, String name, Dictionary<String, Object> properties) throws IOException {
        properties.put("carrier", name);
        admin.getFactoryConfiguration("org.nemorelay.carrier." + type, name, ANY_BUNDLE)
                .update(properties);
    }

    /** As an administrator's file does it: by configuration. Returns when the carrier is used. */
    private void want(String name) throws IOException, InterruptedException {
        Configuration distributed = admin.getConfiguration("org.nemorelay.distributed", ANY_BUNDLE);
        Dictionary<String, Object> properties = new Hashtable<>();
        properties.put("carrier", name);
        distributed.update(properties);
        long end = System.nanoTime() + SWITCH.toNanos();
        while (!carriers.status().current().equals(Optional.of(name))) {
            if (System.nanoTime() - end > 0) {
                throw new RelayException(
                        FailureKind.TIMEOUT,
                        "carrier " + name + " was not taken within " + SWITCH.toSeconds() + " s: "
                                + carriers.status().failure().orElse("it is not there"));
            }
            Thread.sleep(1);
        }
    }

    private static void awaitTraffic(Traffic traffic) throws InterruptedException {
        long messages = traffic.messages() + BETWEEN;
        long jobs = traffic.jobs() + BETWEEN;
        long calls = traffic.calls() + BETWEEN;
        long end = System.nanoTime() + SWITCH.toNanos();
        while (traffic.messages() < messages || traffic.jobs() < jobs || traffic.calls() < calls) {
            if (System.nanoTime() - end > 0) {
                throw new RelayException(FailureKind.TIMEOUT, "the traffic stands still");
            }
            Thread.sleep(1);
        }
    }

    @Deactivate
    void deactivate() throws InterruptedException {
        thread.interrupt();
        if (Thread.currentThread() != thread) {
            thread.join(Duration.ofSeconds(5));
        }
    }
}
