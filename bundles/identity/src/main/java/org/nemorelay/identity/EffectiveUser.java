package org.nemorelay.identity;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/** The user this process acts for; files of other owners are refused. */
public record EffectiveUser(int uid) {
    /** The owner of this process. {@link FailureKind#STATE} where the system does not tell. */
    public static EffectiveUser current() {
        try {
            Path self = Path.of("/proc/self");
            if (Files.exists(self)) {
                return new EffectiveUser((Integer) Files.getAttribute(self, "unix:uid"));
            }
            // Without /proc: whoever owns what this process creates.
            Path probe = Files.createTempFile("nemo-relay", ".uid");
            try {
                return new EffectiveUser((Integer) Files.getAttribute(probe, "unix:uid"));
            } finally {
                Files.delete(probe);
            }
        } catch (IOException | UnsupportedOperationException e) {
            throw new RelayException(FailureKind.STATE, "the owner of this process cannot be determined", e);
        }
    }

    public boolean root() {
        return uid == 0;
    }
}
