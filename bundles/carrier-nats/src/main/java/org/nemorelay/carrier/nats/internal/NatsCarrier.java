package org.nemorelay.carrier.nats.internal;

import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.nemorelay.seams.Broadcaster;
import org.nemorelay.seams.WorkConsumer;
import org.nemorelay.seams.WorkQueue;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.ControlTimeouts;
import org.nemorelay.seams.carrier.Exchange;
import org.nemorelay.seams.carrier.ExchangeAgentControl;
import org.nemorelay.seams.carrier.ExchangeCommandSender;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.Seam;
import org.nemorelay.seams.carrier.StoreFileStager;
import org.nemorelay.seams.carrier.WorkRoutes;
import org.nemorelay.seams.control.AgentControl;
import org.nemorelay.seams.control.AgentRpcServer;
import org.nemorelay.seams.control.ControlServer;
import org.nemorelay.seams.control.NodeCommandSender;
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
public final class NatsCarrier implements Carrier {
    private final String name;
    private final Faults faults;
    private final NatsLink link;
    private final NatsBus bus;
    private final NatsQueues queues;
    private final NodeCommandSender commands;
    private final AgentControl agentControl;
    private final AgentRpcServer agentRpcServer;
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
        this.name = settings.name();
        this.faults = faults;
        this.link = new NatsLink(settings, log, faults);
        this.bus = new NatsBus(link);
        this.queues = new NatsQueues(link, bus, routes, faults);
        this.commands = new ExchangeCommandSender(bus, timeouts, faults);
        this.agentControl = new ExchangeAgentControl(bus);
        this.agentRpcServer = NatsControlServer.agentRpc(link, faults);
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
    public Broadcaster broadcaster() {
        return bus;
    }

    @Override
    public WorkQueue workQueue() {
        return queues;
    }

    @Override
    public WorkConsumer workConsumer() {
        return queues;
    }

    @Override
    public NodeCommandSender commands() {
        return commands;
    }

    @Override
    public ControlServer controlServer(String nodeId) {
        return new NatsControlServer(nodeId, link, faults);
    }

    @Override
    public AgentControl agentControl() {
        return agentControl;
    }

    @Override
    public AgentRpcServer agentRpcServer() {
        return agentRpcServer;
    }

    @Override
    public FileStager stager() {
        return stager.isPresent() ? stager.get() : Carrier.super.stager();
    }

    @Override
    public ObjectStore store() {
        return store.isPresent() ? store.get() : Carrier.super.store();
    }

    /** Bytes to a subject, past the typed senders. */
    Exchange exchange() {
        return bus;
    }

    @Deactivate
    public void close() {
        link.close();
    }
}
