package org.nemorelay.carriers.internal;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.nemorelay.seams.Broadcaster;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.WorkConsumer;
import org.nemorelay.seams.WorkQueue;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.Seam;
import org.nemorelay.seams.control.AgentControl;
import org.nemorelay.seams.control.AgentRpcServer;
import org.nemorelay.seams.control.ControlServer;
import org.nemorelay.seams.control.NodeCommandSender;
import org.nemorelay.seams.dial.BackendClientFactory;
import org.nemorelay.seams.dial.ModelProber;
import org.nemorelay.seams.dial.NodeEndpoints;
import org.nemorelay.seams.dial.WorkerDialers;
import org.nemorelay.seams.staging.FileStager;
import org.nemorelay.seams.staging.ObjectStore;

/** The facade of every seam, itself in the shape of a carrier, so that the suites for carriers hold for it too. */
final class Facades implements Carrier {
    private final Lane bus = new Lane("fan-out, queues, control and agent calls");
    private final Lane dial = new Lane("connections to workers");
    private final Lane staging = new Lane("file staging");
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("carriers-timer").factory());
    private final Faults faults;
    private final BroadcastFacade broadcaster;
    private final QueueFacade queues;
    private final ControlServersFacade servers = new ControlServersFacade(bus);
    private final NodeCommandSender commands = new CommandsFacade(bus);
    private final AgentControl agentControl = new AgentControlFacade(bus);
    private final DialFacade dialling = new DialFacade(dial);
    private final FileStager stager = new StagerFacade(staging);
    private final ObjectStore store = new StoreFacade(staging);

    Facades(Faults faults) {
        this.faults = faults;
        this.broadcaster = new BroadcastFacade(bus, new SecureRandom().nextLong(), timer, faults);
        this.queues = new QueueFacade(bus, broadcaster);
    }

    Lane bus() {
        return bus;
    }

    Lane dial() {
        return dial;
    }

    Lane staging() {
        return staging;
    }

    /** Sends on both carriers from now on. */
    void begin(Carrier next) {
        broadcaster.sendAlsoOn(next);
    }

    /** What went to the old carrier is with its transport; from now on nothing more goes there. */
    void finish(Carrier previous, Duration bound) {
        boolean through = queues.awaitEnqueues(bound);
        try {
            previous.broadcaster().flush(bound);
            previous.workQueue().flush(bound);
        } catch (SeamException e) {
            through = false;
        }
        if (!through) {
            faults.warn("carrier " + previous.name(), "did not confirm its last messages within " + bound);
        }
        broadcaster.stopSendingOn(previous);
    }

    /** Sends nothing on the carrier any more. */
    void abandon(Carrier previous) {
        broadcaster.stopSendingOn(previous);
    }

    /** There is a carrier again after there was none. */
    void returned() {
        broadcaster.reconnected();
    }

    void close() {
        timer.shutdownNow();
    }

    @Override
    public String name() {
        return "current";
    }

    @Override
    public Set<Seam> seams() {
        return EnumSet.allOf(Seam.class);
    }

    @Override
    public boolean connected() {
        return bus.current().map(Carrier::connected).orElse(false);
    }

    @Override
    public Broadcaster broadcaster() {
        return broadcaster;
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
        return servers.controlServer(nodeId);
    }

    @Override
    public AgentControl agentControl() {
        return agentControl;
    }

    @Override
    public AgentRpcServer agentRpcServer() {
        return servers;
    }

    @Override
    public BackendClientFactory backendClients() {
        return dialling;
    }

    @Override
    public ModelProber prober() {
        return dialling;
    }

    @Override
    public WorkerDialers dialers() {
        return dialling;
    }

    @Override
    public NodeEndpoints endpoints() {
        return dialling;
    }

    @Override
    public FileStager stager() {
        return stager;
    }

    @Override
    public ObjectStore store() {
        return store;
    }
}
