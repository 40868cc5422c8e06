package org.nemorelay.carrier.direct.internal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.nemorelay.files.EnvironmentProxy;
import org.nemorelay.files.HttpFileStager;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.HealthProber;
import org.nemorelay.seams.carrier.Seam;
import org.nemorelay.seams.dial.BackendClientFactory;
import org.nemorelay.seams.dial.ModelProber;
import org.nemorelay.seams.dial.NodeAddresses;
import org.nemorelay.seams.dial.WorkerDialers;
import org.nemorelay.seams.staging.FileStager;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.component.annotations.ReferenceCardinality;
import org.osgi.service.component.annotations.ReferencePolicy;
import org.osgi.service.metatype.annotations.Designate;

/** Dialling and staging at the addresses that workers report. */
@Component(
        service = Carrier.class,
        configurationPid = "org.nemorelay.carrier.direct",
        configurationPolicy = ConfigurationPolicy.REQUIRE)
@Designate(ocd = DirectCarrierConfig.class, factory = true)
public final class DirectCarrier implements Carrier {
    private static final int THREADS = 2;

    private final String name;
    private final List<NodeAddresses> addresses = new CopyOnWriteArrayList<>();
    private final Transport transport = new Transport(THREADS);
    private final GrpcDial dial;
    private final HttpFileStager stager;
    private final DirectDialers dialers;
    private final ModelProber prober;

    @Activate
    public DirectCarrier(DirectCarrierConfig config) {
        this(config.carrier(), token(config.token_file()), System.getenv());
    }

    private static String token(String file) {
        try {
            return file.isEmpty() ? "" : Files.readString(Path.of(file)).strip();
        } catch (IOException e) {
            throw new RelayException(
                    FailureKind.CONFIGURATION, "token_file " + file + " cannot be read: " + Reasons.of(e), e);
        }
    }

    DirectCarrier(String name, String token, Map<String, String> environment) {
        this.name = name;
        this.dial = new GrpcDial(transport, token);
        this.dialers = new DirectDialers(this::forget);
        this.stager = new HttpFileStager(name, dialers, this::address, token, EnvironmentProxy.of(environment));
        this.prober = new HealthProber(dial);
    }

    private Optional<String> address(String nodeId) {
        return addresses.stream()
                .flatMap(known -> known.serverAddress(nodeId).stream())
                .findFirst();
    }

    private void forget(String nodeId) {
        dial.forgetNode(nodeId);
        stager.forgetNode(nodeId);
    }

    @Reference(cardinality = ReferenceCardinality.MULTIPLE, policy = ReferencePolicy.DYNAMIC)
    void addAddresses(NodeAddresses known) {
        addresses.add(known);
    }

    void removeAddresses(NodeAddresses known) {
        addresses.remove(known);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Set<Seam> seams() {
        return EnumSet.of(Seam.DIAL, Seam.STAGING);
    }

    /** There is no link of its own that could be down. */
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
        return dialers;
    }

    @Override
    public FileStager stager() {
        return stager;
    }

    /** Channels and file clients that are kept, for tests of what is forgotten. */
    int kept() {
        return dial.channelCount() + stager.clientCount();
    }

    @Deactivate
    public void close() {
        stager.close();
        dialers.close();
        dial.close();
        transport.close();
    }
}
