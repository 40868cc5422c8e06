package org.nemorelay.protocol.control;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.nemorelay.json.Json;
import org.nemorelay.protocol.Version;

/**
 * What a component says about itself (relay-daemon 3.3). Capabilities are kept sorted and without repetition, as they
 * are signed.
 */
public record Descriptor(
        String service, Role role, ProtocolRange protocol, List<String> capabilities, String binaryVersion) {

    public static final String SERVICE = "nemo-relay";
    private static final int MAX_VERSION = 256;

    public Descriptor {
        capabilities = List.copyOf(new TreeSet<>(capabilities));
    }

    /** This build in that role. */
    public static Descriptor ours(Role role) {
        return new Descriptor(SERVICE, role, ProtocolRange.CURRENT, Capabilities.OURS, Version.text());
    }

    public boolean offers(String capability) {
        return capabilities.contains(capability);
    }

    /** The required capabilities that are missing: an MCP process or worker with any is refused as incompatible (426). */
    public List<String> missingRequired() {
        List<String> missing = new ArrayList<>(Capabilities.REQUIRED);
        missing.removeAll(capabilities);
        return missing;
    }

    /** Why this is no valid descriptor, or nothing. */
    public Optional<String> problem() {
        if (!SERVICE.equals(service)) {
            return Optional.of("the peer's service is not " + SERVICE);
        }
        if (!protocol.valid()) {
            return Optional.of("the peer's protocol range is not valid");
        }
        if (!Wire.within(binaryVersion, MAX_VERSION)) {
            return Optional.of("the peer's version text must have 1 to " + MAX_VERSION + " bytes");
        }
        if (capabilities.size() > Capabilities.MAX_COUNT) {
            return Optional.of("the peer offers more than " + Capabilities.MAX_COUNT + " capabilities");
        }
        for (String capability : capabilities) {
            if (!Capabilities.wellFormed(capability)) {
                return Optional.of("the peer offers a capability with a malformed name");
            }
        }
        return Optional.empty();
    }

    Map<String, Object> json() {
        return Json.object(
                "service",
                service,
                "role",
                role.word(),
                "protocol",
                Json.object("minimum", protocol.minimum(), "maximum", protocol.maximum()),
                "capabilities",
                capabilities,
                "binary_version",
                binaryVersion);
    }
}
