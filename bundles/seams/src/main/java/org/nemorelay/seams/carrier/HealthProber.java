package org.nemorelay.seams.carrier;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.RefusedException;
import org.nemorelay.seams.TimedOutException;
import org.nemorelay.seams.UnreachableException;
import org.nemorelay.seams.dial.BackendClient;
import org.nemorelay.seams.dial.BackendClientFactory;
import org.nemorelay.seams.dial.ModelProber;

/** Probes with the backend's own {@code Health}, through the client factory, so that it reaches what callers reach. */
public final class HealthProber implements ModelProber {
    private static final Duration BOUND = Duration.ofSeconds(1);
    /** {@code Reply{message: "OK"}}: field 1, two bytes. */
    private static final byte[] HEALTHY = "\n\u0002OK".getBytes(StandardCharsets.UTF_8);

    private final BackendClientFactory clients;

    public HealthProber(BackendClientFactory clients) {
        this.clients = clients;
    }

    @Override
    public Finding probe(Context context, String nodeId, String address) {
        try (BackendClient client = clients.newClient(nodeId, address, true)) {
            byte[] reply = client.call(context.withTimeout(BOUND), "Health", new byte[0]);
            boolean healthy = reply.length >= HEALTHY.length
                    && Arrays.equals(reply, 0, HEALTHY.length, HEALTHY, 0, HEALTHY.length);
            return healthy ? Finding.ALIVE : Finding.UNREACHABLE;
        } catch (TimedOutException | RefusedException e) {
            return Finding.BUSY;
        } catch (UnreachableException e) {
            return Finding.UNREACHABLE;
        }
    }
}
