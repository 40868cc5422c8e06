package org.nemorelay.carriers;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.nemorelay.seams.carrier.Seam;
import org.osgi.annotation.versioning.ProviderType;

/** The carriers of this process (design, "Carriers"). Safe for any thread. */
@ProviderType
public interface Carriers {
    /** One carrier that is there. */
    record Present(String name, boolean connected, List<Seam> seams) {}

    /**
     * @param wanted what the configuration, or the last {@link #use}, asks for
     * @param current what fan-out, queues, control and agent calls go through; empty while {@code wanted} is not there
     * @param present every carrier, by name
     * @param switches how often the current carrier has changed
     * @param retiring carriers that still finish what they began
     * @param failure why the last switch did not happen; empty when it did
     */
    record Status(
            String wanted,
            Optional<String> current,
            List<Present> present,
            long switches,
            List<String> retiring,
            Optional<String> failure) {}

    Status status();

    /**
     * Asks for another carrier, until the configuration changes, and returns when everything new goes through it. What the
     * old one began it finishes afterwards. When the new one refuses something that stands, all stays as it was.
     *
     * @throws org.nemorelay.protocol.RelayException not found when there is no such carrier, conflict when it refuses,
     *     timeout when it takes longer than {@code bound}
     */
    void use(String name, Duration bound);
}
