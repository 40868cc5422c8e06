package org.nemorelay.carrier.local.internal;

import java.util.EnumSet;
import java.util.Set;
import org.nemorelay.seams.carrier.BusCarrier;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.ControlTimeouts;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.HealthProber;
import org.nemorelay.seams.carrier.MemoryDial;
import org.nemorelay.seams.carrier.Seam;
import org.nemorelay.seams.carrier.StoreFileStager;
import org.nemorelay.seams.carrier.WorkRoutes;
import org.nemorelay.seams.dial.BackendClientFactory;
import org.nemorelay.seams.dial.ModelProber;
import org.nemorelay.seams.dial.NodeEndpoints;
import org.nemorelay.seams.dial.WorkerDialers;
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

/** Every seam within one process. */
@Component(
        service = Carrier.class,
        configurationPid = "org.nemorelay.carrier.local",
        configurationPolicy = ConfigurationPolicy.OPTIONAL)
@Designate(ocd = LocalCarrierConfig.class, factory = true)
public final class LocalCarrier extends BusCarrier {
    private final String name;
    private final LocalBus bus;
    private final MemoryDial dial;
    private final ModelProber prober;
    private final FolderStore store = new FolderStore();
    private final FileStager stager;

    @Activate
    public LocalCarrier(LocalCarrierConfig config, @Reference EventLog log, @Reference ProcessControl process) {
        this(
                config.carrier(),
                config.max_payload(),
                WorkRoutes.standard().withAgentRunRoute(config.agent_subject(), config.agent_queue()),
                ControlTimeouts.standard(),
                new Faults(log, process));
    }

    public LocalCarrier(String name, int maxPayload, WorkRoutes routes, ControlTimeouts timeouts, Faults faults) {
        this(name, new LocalBus(name, maxPayload, faults), routes, timeouts, faults);
    }

    private LocalCarrier(String name, LocalBus bus, WorkRoutes routes, ControlTimeouts timeouts, Faults faults) {
        super(bus, new LocalQueues(bus, routes, faults), timeouts, faults);
        this.name = name;
        this.bus = bus;
        this.dial = new MemoryDial(MemoryDial.Routing.NODE_AND_ADDRESS, faults);
        this.prober = new HealthProber(dial);
        this.stager = new StoreFileStager(store, bus, timeouts, faults);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Set<Seam> seams() {
        return EnumSet.allOf(Seam.class);
    }

    @Override
    public boolean connected() {
        return bus.connected();
    }

    @Override
    public BackendClientFactory backendClients() {
        return dial;
    }

    @Override
    public ModelProber prober() {
        return prober;
    }

    @Override
    public WorkerDialers dialers() {
        return dial;
    }

    @Override
    public NodeEndpoints endpoints() {
        return dial;
    }

    @Override
    public FileStager stager() {
        return stager;
    }

    @Override
    public ObjectStore store() {
        return store;
    }

    @Deactivate
    public void close() {
        bus.close();
        dial.close();
        store.close();
    }
}
