package org.nemorelay.carrier.nats.internal;

import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.nemorelay.seams.carrier.BusCarrier;
import org.nemorelay.seams.carrier.BusQueues;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.ControlTimeouts;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.Seam;
import org.nemorelay.seams.carrier.StoreFileStager;
import org.nemorelay.seams.carrier.WorkRoutes;
import org.nemorelay.seams.staging.FileStager;
import org.nemorelay.seams.staging.ObjectStore;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.ProcessControl;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.metatype.annotations.Designate;

/** The seams that NATS serves: everything but dialling, and files where a store is configured. */
@Component(
        service = Carrier.class,
        configurationPid = "org.nemorelay.carrier.nats",
        configurationPolicy = ConfigurationPolicy.REQUIRE)
@Designate(ocd = NatsCarrierConfig.class, factory = true)
public final class NatsCarrier extends BusCarrier {
    private final String name;
    private final NatsLink link;
    private final Optional<S3Store> store;
    private final Optional<StoreFileStager> stager;

    @Activate
    public NatsCarrier(NatsCarrierConfig config, @Reference EventLog log, @Reference ProcessControl process) {
        this(
                Settings.of(config),
                S3Store.of(config),
                WorkRoutes.standard().withAgentRunRoute(config.agent_subject(), config.agent_queue()),
                ControlTimeouts.standard(),
                log,
                new Faults(log, process));
    }

    NatsCarrier(
            Settings settings,
            Optional<S3Store> store,
            WorkRoutes routes,
            ControlTimeouts timeouts,
            EventLog log,
            Faults faults) {
        this(settings.name(), new NatsBus(new NatsLink(settings, log, faults)), store, routes, timeouts, faults);
    }

    private NatsCarrier(
            String name,
            NatsBus bus,
            Optional<S3Store> store,
            WorkRoutes routes,
            ControlTimeouts timeouts,
            Faults faults) {
        super(bus, new BusQueues(bus, routes, faults), timeouts, faults);
        this.name = name;
        this.link = bus.link();
        this.store = store;
        this.stager = store.map(bucket -> new StoreFileStager(bucket, bus, timeouts, faults));
        link.start();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Set<Seam> seams() {
        Set<Seam> seams = EnumSet.of(Seam.FAN_OUT, Seam.QUEUES, Seam.CONTROL, Seam.AGENT_RPC);
        if (store.isPresent()) {
            seams.add(Seam.STAGING);
        }
        return seams;
    }

    @Override
    public boolean connected() {
        return link.connected();
    }

    @Override
    public Optional<String> network() {
        return link.network();
    }

    @Override
    public FileStager stager() {
        return stager.isPresent() ? stager.get() : super.stager();
    }

    @Override
    public ObjectStore store() {
        return store.isPresent() ? store.get() : super.store();
    }

    @Deactivate
    public void close() {
        link.close();
    }
}
