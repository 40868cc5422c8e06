package org.nemorelay.testkit;

import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.nemorelay.files.EnvironmentProxy;
import org.nemorelay.files.HttpFileStager;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.HealthProber;
import org.nemorelay.seams.carrier.MemoryDial;
import org.nemorelay.seams.carrier.Seam;
import org.nemorelay.seams.dial.BackendClientFactory;
import org.nemorelay.seams.dial.ModelProber;
import org.nemorelay.seams.dial.NodeEndpoints;
import org.nemorelay.seams.dial.WorkerDialers;
import org.nemorelay.seams.staging.FileStager;

/**
 * A carrier that finds a node by its id and ignores addresses, as a tunnel that workers open does: dialling and staging
 * within one process. What works over it does not depend on addresses.
 */
public final class TunnelCarrier implements Carrier, AutoCloseable {
    /** A host that no resolver knows: whoever dials it by address finds nobody. */
    private static final String NOWHERE = "node.invalid:80";

    private final MemoryDial dial;
    private final ModelProber prober;
    private final HttpFileStager stager;

    /** @param proxy what the environment names; a tunnel must never hand it to anybody */
    public TunnelCarrier(Optional<EnvironmentProxy> proxy, Recorder recorder) {
        dial = new MemoryDial(MemoryDial.Routing.NODE, new Faults(recorder, recorder));
        prober = new HealthProber(dial);
        stager = new HttpFileStager(name(), dial, node -> Optional.of(NOWHERE), "", proxy);
    }

    @Override
    public String name() {
        return "tunnel";
    }

    @Override
    public Set<Seam> seams() {
        return EnumSet.of(Seam.DIAL, Seam.STAGING);
    }

    @Override
    public boolean connected() {
        return true;
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
    public void close() {
        stager.close();
        dial.close();
    }
}
