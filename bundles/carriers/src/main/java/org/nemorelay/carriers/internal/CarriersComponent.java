package org.nemorelay.carriers.internal;

import java.util.ArrayList;
import java.util.Dictionary;
import java.util.Hashtable;
import java.util.List;
import org.nemorelay.carriers.Carriers;
import org.nemorelay.seams.Broadcaster;
import org.nemorelay.seams.WorkConsumer;
import org.nemorelay.seams.WorkQueue;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.control.AgentControl;
import org.nemorelay.seams.control.AgentRpcServer;
import org.nemorelay.seams.control.ControlServers;
import org.nemorelay.seams.control.NodeCommandSender;
import org.nemorelay.seams.dial.BackendClientFactory;
import org.nemorelay.seams.dial.ModelProber;
import org.nemorelay.seams.dial.NodeEndpoints;
import org.nemorelay.seams.dial.WorkerDialers;
import org.nemorelay.seams.staging.FileStager;
import org.nemorelay.seams.staging.ObjectStore;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.ProcessControl;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Modified;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicy;
import org.osgi.service.metatype.annotations.Designate;

/** Registers the facades, each under its seam's interface, and tells the switch of carriers and configuration. */
@Component(
        service = {},
        immediate = true,
        configurationPid = "org.nemorelay.distributed",
        configurationPolicy = ConfigurationPolicy.OPTIONAL)
@Designate(ocd = DistributedConfig.class)
public final class CarriersComponent {
    private final Facades facades;
    private final Switch carriers;
    private final List<ServiceRegistration<?>> services = new ArrayList<>();

    @Activate
    public CarriersComponent(
            BundleContext context,
            DistributedConfig config,
            @Reference EventLog log,
            @Reference ProcessControl process) {
        Faults faults = new Faults(log, process);
        facades = new Facades(faults);
        carriers = new Switch(facades, config.carrier(), config.dial(), faults);
        register(context, Broadcaster.class, facades.broadcaster());
        register(context, WorkQueue.class, facades.workQueue());
        register(context, WorkConsumer.class, facades.workConsumer());
        register(context, NodeCommandSender.class, facades.commands());
        register(context, ControlServers.class, facades);
        register(context, AgentControl.class, facades.agentControl());
        register(context, AgentRpcServer.class, facades.agentRpcServer());
        register(context, BackendClientFactory.class, facades.backendClients());
        register(context, ModelProber.class, facades.prober());
        register(context, WorkerDialers.class, facades.dialers());
        register(context, NodeEndpoints.class, facades.endpoints());
        register(context, FileStager.class, facades.stager());
        register(context, ObjectStore.class, facades.store());
        register(context, Carriers.class, carriers);
    }

    private <T> void register(BundleContext context, Class<T> type, T facade) {
        Dictionary<String, Object> none = new Hashtable<>();
        services.add(context.registerService(type, facade, none));
    }

    @Reference(cardinality = ReferenceCardinality.MULTIPLE, policy = ReferencePolicy.DYNAMIC)
    void addCarrier(Carrier carrier) {
        carriers.come(carrier);
    }

    void removeCarrier(Carrier carrier) {
        carriers.go(carrier);
    }

    @Modified
    void modified(DistributedConfig config) {
        carriers.want(config.carrier(), config.dial());
    }

    @Deactivate
    void deactivate() {
        services.forEach(ServiceRegistration::unregister);
        carriers.close();
        facades.close();
    }
}
