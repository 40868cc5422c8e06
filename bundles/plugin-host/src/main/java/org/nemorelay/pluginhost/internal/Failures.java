package org.nemorelay.pluginhost.internal;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.nemorelay.plugin.api.PluginConfigException;
import org.nemorelay.protocol.Reasons;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleException;
import org.osgi.framework.Constants;
import org.osgi.framework.wiring.BundleRequirement;
import org.osgi.framework.wiring.BundleRevision;
import org.osgi.framework.wiring.FrameworkWiring;

/** Turns what framework and component runtime say about a failure into one line for an administrator. */
final class Failures {
    /** Causes may go round in circles. */
    private static final int MAX_DEPTH = 100;

    /** An unusable value in a plugin's configuration. */
    record BadValue(String key, String message) {}

    private Failures() {}

    /** Why a bundle does not start. */
    static String start(Bundle bundle, FrameworkWiring wiring, BundleException failure) {
        if (failure.getType() == BundleException.RESOLVE_ERROR) {
            List<String> missing = new ArrayList<>();
            for (BundleRequirement requirement :
                    bundle.adapt(BundleRevision.class).getDeclaredRequirements(null)) {
                if (mandatory(requirement) && wiring.findProviders(requirement).isEmpty()) {
                    missing.add(words(requirement));
                }
            }
            return missing.isEmpty()
                    ? "does not resolve: " + line(failure.getMessage()) + "; build it for this version"
                    : lacks(missing);
        }
        Throwable cause = innermost(failure);
        return "does not start: " + line(cause instanceof BundleException ? cause.getMessage() : text(cause));
    }

    /** The API in a version that is not here: who can do without it is no plugin of this relay either. */
    static Optional<String> absentApi(Bundle bundle, FrameworkWiring wiring) {
        List<String> missing = new ArrayList<>();
        for (BundleRequirement requirement :
                bundle.adapt(BundleRevision.class).getDeclaredRequirements(BundleRevision.PACKAGE_NAMESPACE)) {
            if (!mandatory(requirement)
                    && Offer.nameOf(requirement).filter(JarCheck::api).isPresent()
                    && wiring.findProviders(requirement).isEmpty()) {
                missing.add(words(requirement));
            }
        }
        return missing.isEmpty() ? Optional.empty() : Optional.of(lacks(missing));
    }

    private static String lacks(List<String> missing) {
        return "needs " + String.join(" and ", new LinkedHashSet<>(missing))
                + ", which nothing here provides; build it for this version or add what it needs";
    }

    /** Why a bundle cannot be installed. */
    static String install(BundleException failure) {
        String cause = String.valueOf(innermost(failure).getMessage());
        return line(cause.equals(failure.getMessage()) ? cause : failure.getMessage() + " " + cause);
    }

    private static Throwable innermost(Throwable failure) {
        Throwable cause = failure;
        for (int depth = 0; depth < MAX_DEPTH && cause.getCause() != null; depth++) {
            cause = cause.getCause();
        }
        return cause;
    }

    /** What is required, as a part of a sentence. */
    private static String words(BundleRequirement requirement) {
        String namespace = requirement.getNamespace();
        String filter = requirement.getDirectives().getOrDefault(Constants.FILTER_DIRECTIVE, "");
        Optional<String> name = found("\\(" + Pattern.quote(namespace) + "=([^()]*)\\)", filter);
        if (name.isEmpty()) {
            return namespace + (filter.isEmpty() ? "" : " " + filter);
        }
        String what = switch (namespace) {
            case BundleRevision.PACKAGE_NAMESPACE -> "the package";
            case BundleRevision.BUNDLE_NAMESPACE -> "the bundle";
            case "osgi.ee" -> "the Java platform";
            default -> namespace;
        };
        String exactly = found("\\(version=([^()]*)\\)", filter)
                .map(version -> " in version " + version)
                .orElse("");
        String least = found("(?<!!)\\(version>=([^()]*)\\)", filter)
                .map(version -> " in version " + version + " or later")
                .orElse("");
        String below = found("\\(!\\(version>=([^()]*)\\)\\)", filter)
                .map(version -> (least.isEmpty() ? " in a version" : ",") + " below " + version)
                .orElse("");
        String here = namespace.equals("osgi.ee")
                ? " (this is Java " + Runtime.version().feature() + ")"
                : "";
        return what + " " + name.get() + exactly + least + below + here;
    }

    private static Optional<String> found(String pattern, String text) {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        return matcher.find() ? Optional.of(matcher.group(1)) : Optional.empty();
    }

    /** The configuration value that a stack trace complains about. */
    static Optional<BadValue> badValue(String stackTrace) {
        String marker = PluginConfigException.class.getName() + ": ";
        int start = stackTrace.lastIndexOf(marker);
        if (start < 0) {
            return Optional.empty();
        }
        String text = firstLine(stackTrace.substring(start + marker.length()));
        int colon = text.indexOf(": ");
        return colon < 0
                ? Optional.empty()
                : Optional.of(new BadValue(text.substring(0, colon), text.substring(colon + 2)));
    }

    /** The innermost cause of a stack trace. */
    static String cause(String stackTrace) {
        String marker = "Caused by: ";
        int start = stackTrace.lastIndexOf(marker);
        return firstLine(start < 0 ? stackTrace : stackTrace.substring(start + marker.length()));
    }

    /** What a plugin threw, which may be unable to say it. */
    static String text(Throwable thrown) {
        try {
            return String.valueOf(thrown);
        } catch (Throwable e) {
            return thrown.getClass().getName();
        }
    }

    /** The same without its type, where it says more. */
    static String message(Throwable thrown) {
        try {
            return line(thrown.getMessage() == null ? thrown.getClass().getName() : thrown.getMessage());
        } catch (Throwable e) {
            return thrown.getClass().getName();
        }
    }

    /** A text of several lines as one, as long as people read. */
    static String line(String text) {
        return Reasons.said(String.valueOf(text));
    }

    private static String firstLine(String text) {
        return Reasons.said(text.lines().findFirst().orElse(""));
    }

    static boolean mandatory(BundleRequirement requirement) {
        Map<String, String> directives = requirement.getDirectives();
        String effective = directives.getOrDefault(Constants.EFFECTIVE_DIRECTIVE, Constants.EFFECTIVE_RESOLVE);
        String resolution = directives.getOrDefault(Constants.RESOLUTION_DIRECTIVE, Constants.RESOLUTION_MANDATORY);
        return effective.equals(Constants.EFFECTIVE_RESOLVE) && resolution.equals(Constants.RESOLUTION_MANDATORY);
    }
}
