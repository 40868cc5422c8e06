package org.nemorelay.pluginhost.internal;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleContext;
import org.osgi.framework.Constants;
import org.osgi.framework.wiring.BundleCapability;
import org.osgi.framework.wiring.BundleRequirement;
import org.osgi.framework.wiring.BundleRevision;

/**
 * What plugins may use of the worker: its API and the platform's. All else that is in its framework is the relay's inside, which
 * the next version may do without; a plugin that is wired to it would break, or change what it never was to see.
 */
final class Offer {
    private static final Pattern NAME = Pattern.compile("\\(osgi\\.wiring\\.(?:package|bundle)=([^()*]*)\\)");
    private static final String RELAY = "org.nemorelay.";
    private static final String INSTEAD =
            "a plugin may import org.nemorelay.plugin.api, org.nemorelay.json, org.osgi.*,"
                    + " org.slf4j, what the JDK has and what other plugins export";

    private Offer() {}

    /** Whether a plugin must not be wired to this. */
    static boolean hidden(BundleRequirement requirement, BundleCapability candidate) {
        return Generation.isPlugin(requirement.getRevision().getBundle()) && inside(candidate);
    }

    private static boolean inside(BundleCapability capability) {
        Bundle provider = capability.getRevision().getBundle();
        if (provider.getBundleId() == Constants.SYSTEM_BUNDLE_ID || Generation.isPlugin(provider)) {
            return false;
        }
        return switch (capability.getNamespace()) {
            case BundleRevision.PACKAGE_NAMESPACE ->
                !offered(String.valueOf(capability.getAttributes().get(BundleRevision.PACKAGE_NAMESPACE)));
            case BundleRevision.BUNDLE_NAMESPACE -> true;
            default -> false;
        };
    }

    private static boolean offered(String packageName) {
        return JarCheck.api(packageName) || packageName.startsWith("org.osgi.");
    }

    /** Why a bundle that asks for the relay's inside must not run; the optional wish for a library is only not granted. */
    static Optional<String> refusal(Bundle bundle, BundleContext context) {
        for (BundleRequirement requirement : bundle.adapt(BundleRevision.class).getDeclaredRequirements(null)) {
            String name = nameOf(requirement).orElse("");
            boolean asked = Failures.mandatory(requirement) || name.startsWith(RELAY);
            if (asked && onlyInside(requirement.getNamespace(), name, context)) {
                return Optional.of((requirement.getNamespace().equals(BundleRevision.PACKAGE_NAMESPACE)
                                ? "imports the package "
                                : "requires the bundle ")
                        + name + ", which is the relay's inside: " + INSTEAD);
            }
        }
        return Optional.empty();
    }

    /** The package or bundle that a requirement names; empty where it names none, or several. */
    static Optional<String> nameOf(BundleRequirement requirement) {
        Matcher name = NAME.matcher(requirement.getDirectives().getOrDefault(Constants.FILTER_DIRECTIVE, ""));
        return name.find() ? Optional.of(name.group(1)) : Optional.empty();
    }

    /** Whether the relay has something of the name, and nobody offers it. */
    private static boolean onlyInside(String namespace, String name, BundleContext context) {
        boolean inside = false;
        for (Bundle bundle : context.getBundles()) {
            BundleRevision revision = bundle.adapt(BundleRevision.class);
            for (BundleCapability capability :
                    revision == null ? List.<BundleCapability>of() : revision.getDeclaredCapabilities(namespace)) {
                if (name.equals(capability.getAttributes().get(namespace))) {
                    if (!inside(capability)) {
                        return false;
                    }
                    inside = true;
                }
            }
        }
        return inside;
    }
}
