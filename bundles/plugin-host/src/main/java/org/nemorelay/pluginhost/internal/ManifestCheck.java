package org.nemorelay.pluginhost.internal;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.nemorelay.plugin.api.PluginKind;
import org.nemorelay.pluginhost.internal.ManifestHeaders.Attribute;
import org.nemorelay.pluginhost.internal.ManifestHeaders.Clause;
import org.nemorelay.pluginhost.internal.ManifestHeaders.Wrong;
import org.osgi.framework.Constants;
import org.osgi.framework.FrameworkUtil;
import org.osgi.framework.InvalidSyntaxException;
import org.osgi.framework.Version;
import org.osgi.framework.VersionRange;

/**
 * What is wrong with the headers of a bundle's manifest, told in words for who wrote them, before the framework tells it in
 * its own or, worse, does without.
 */
final class ManifestCheck {
    private static final Set<String> RESOLUTIONS =
            Set.of(Constants.RESOLUTION_MANDATORY, Constants.RESOLUTION_OPTIONAL);
    /** Names and versions stand in lines for people. */
    private static final int MAX_NAME = 200;

    private static final Set<String> SCALARS = Set.of("", "String", "Version", "Long", "Double");

    private final ManifestHeaders headers;
    private final Collection<String> entries;

    /** @param entries the names of what is in the jar */
    private ManifestCheck(ManifestHeaders headers, Collection<String> entries) {
        this.headers = headers;
        this.entries = entries;
    }

    /** Of one header. */
    private interface Rule {
        void check(String header) throws Wrong;
    }

    /** Why a bundle with this manifest must not be installed. */
    static Optional<String> refusal(ManifestHeaders headers, Collection<String> entries) {
        ManifestCheck check = new ManifestCheck(headers, entries);
        return check.wrong(Constants.BUNDLE_MANIFESTVERSION, check::manifestVersion)
                .or(() -> check.wrong(Constants.BUNDLE_SYMBOLICNAME, check::symbolicName))
                .or(() -> check.wrong(Constants.BUNDLE_VERSION, check::bundleVersion))
                .or(() -> check.wrong(Constants.IMPORT_PACKAGE, check::imports))
                .or(() -> check.wrong(Constants.DYNAMICIMPORT_PACKAGE, check::dynamicImports))
                .or(() -> check.wrong(Constants.EXPORT_PACKAGE, check::exports))
                .or(() -> check.wrong(Constants.REQUIRE_BUNDLE, check::bundles))
                .or(() -> check.wrong(Constants.PROVIDE_CAPABILITY, check::capabilities))
                .or(() -> check.wrong(Constants.REQUIRE_CAPABILITY, check::requirements))
                .or(() -> check.wrong(Constants.BUNDLE_NATIVECODE, check::nativeCode))
                .or(() -> check.wrong(Constants.BUNDLE_CLASSPATH, check::classPath))
                .or(() -> check.wrong(ComponentXml.HEADER, check::components));
    }

    private Optional<String> wrong(String header, Rule rule) {
        try {
            rule.check(header);
            return Optional.empty();
        } catch (Wrong e) {
            return Optional.of("has a wrong " + header + " in its manifest: " + e.getMessage());
        }
    }

    private List<Clause> clauses(String header) throws Wrong {
        try {
            return headers.clauses(header);
        } catch (Wrong e) {
            throw new Wrong(e.getMessage() + "; correct it");
        }
    }

    private void manifestVersion(String header) throws Wrong {
        Optional<String> value = headers.value(header);
        if (!value.equals(Optional.of("2"))) {
            throw new Wrong((value.isEmpty() ? "it is not there" : "it is " + ManifestHeaders.shown(value.get()))
                    + "; a plugin's is 2, build it with bnd");
        }
    }

    private void symbolicName(String header) throws Wrong {
        List<Clause> names = clauses(header);
        if (names.size() != 1
                || names.getFirst().paths().size() != 1
                || names.getFirst().paths().getFirst().length() > MAX_NAME
                || !names.getFirst().paths().getFirst().matches("[\\w-]+(\\.[\\w-]+)*")) {
            throw new Wrong(ManifestHeaders.shown(headers.value(header).orElse("")) + " is not one name of at most "
                    + MAX_NAME + " letters, digits, '_', '-' and dots between; write one");
        }
    }

    private void bundleVersion(String header) throws Wrong {
        Optional<String> value = headers.value(header);
        if (value.isPresent()) {
            version(value.get());
        }
    }

    private void imports(String header) throws Wrong {
        Set<String> names = new HashSet<>();
        for (Clause clause : clauses(header)) {
            resolution(clause);
            ranges(clause, Constants.VERSION_ATTRIBUTE, "specification-version", Constants.BUNDLE_VERSION_ATTRIBUTE);
            Attribute version = clause.attributes().get(Constants.VERSION_ATTRIBUTE);
            Attribute old = clause.attributes().get("specification-version");
            if (version != null && old != null && !version.value().equals(old.value())) {
                throw new Wrong("version and specification-version of " + named(clause) + " differ; keep the first");
            }
            for (String name : clause.paths()) {
                packageName(name);
                if (!names.add(name)) {
                    throw new Wrong("it has the package " + name + " twice; keep one");
                }
            }
        }
    }

    private void dynamicImports(String header) throws Wrong {
        for (Clause clause : clauses(header)) {
            ranges(clause, Constants.VERSION_ATTRIBUTE, Constants.BUNDLE_VERSION_ATTRIBUTE);
            for (String name : clause.paths()) {
                if (!name.equals("*")) {
                    packageName(name.endsWith(".*") ? name.substring(0, name.length() - 2) : name);
                }
            }
        }
    }

    private void exports(String header) throws Wrong {
        for (Clause clause : clauses(header)) {
            for (String name : clause.paths()) {
                packageName(name);
                if (name.equals("java") || name.startsWith("java.")) {
                    throw new Wrong("the package " + name + " is the Java platform's alone; leave it out");
                }
            }
            for (String foreign :
                    List.of(Constants.BUNDLE_SYMBOLICNAME_ATTRIBUTE, Constants.BUNDLE_VERSION_ATTRIBUTE)) {
                if (clause.attributes().containsKey(foreign)) {
                    throw new Wrong(foreign + " is of imports, not of exports; leave it out");
                }
            }
            Attribute version = clause.attributes().get(Constants.VERSION_ATTRIBUTE);
            if (version != null) {
                version(version.value());
            }
        }
    }

    private void bundles(String header) throws Wrong {
        for (Clause clause : clauses(header)) {
            resolution(clause);
            ranges(clause, Constants.BUNDLE_VERSION_ATTRIBUTE);
        }
    }

    private void capabilities(String header) throws Wrong {
        Set<String> kinds = new HashSet<>();
        for (Clause clause : clauses(header)) {
            typed(clause);
            for (String namespace : clause.paths()) {
                if (namespace.startsWith("osgi.wiring.") || namespace.equals("osgi.identity")) {
                    throw new Wrong(namespace + " is the framework's to provide; leave it out");
                }
                if (namespace.equals(PluginKind.NAMESPACE)) {
                    Attribute kind = clause.attributes().get("kind");
                    if (kind == null
                            || !Set.of("", "String").contains(kind.type())
                            || !kind.value().matches("[\\w.-]{1,100}")) {
                        throw new Wrong(namespace
                                + " has no kind of at most 100 letters, digits, '.', '_' and '-'; annotate the"
                                + " component with @PluginKind");
                    }
                    if (!kinds.add(kind.value())) {
                        throw new Wrong("the kind \"" + kind.value() + "\" stands twice; keep one");
                    }
                }
            }
        }
    }

    private void requirements(String header) throws Wrong {
        for (Clause clause : clauses(header)) {
            typed(clause);
            resolution(clause);
            directive(clause, "cardinality", Set.of("single", "multiple"));
            String filter = clause.directives().get(Constants.FILTER_DIRECTIVE);
            if (filter != null) {
                try {
                    FrameworkUtil.createFilter(filter);
                } catch (InvalidSyntaxException e) {
                    throw new Wrong(ManifestHeaders.shown(filter) + " is no filter; write one such as (a=b)");
                }
            }
        }
    }

    private void nativeCode(String header) throws Wrong {
        for (Clause clause : clauses(header)) {
            for (String path : clause.paths()) {
                if (!path.equals("*") && !entries.contains(relative(path))) {
                    throw missing(path);
                }
            }
            ranges(clause, Constants.BUNDLE_NATIVECODE_OSVERSION);
        }
    }

    private void classPath(String header) throws Wrong {
        for (Clause clause : clauses(header)) {
            for (String path : clause.paths()) {
                String name = relative(path);
                if (!path.equals(".")
                        && !entries.contains(name)
                        && entries.stream()
                                .noneMatch(entry -> entry.startsWith(name.endsWith("/") ? name : name + "/"))) {
                    throw missing(path);
                }
            }
        }
    }

    private void components(String header) throws Wrong {
        for (Clause clause : clauses(header)) {
            for (String path : clause.paths()) {
                if (path.indexOf('*') < 0 && !entries.contains(relative(path))) {
                    throw missing(path);
                }
            }
        }
    }

    static String relative(String path) {
        return path.startsWith("/") ? path.substring(1) : path;
    }

    private static Wrong missing(String path) {
        return new Wrong(ManifestHeaders.shown(path) + " is not in the jar; build it again");
    }

    private static void resolution(Clause clause) throws Wrong {
        directive(clause, Constants.RESOLUTION_DIRECTIVE, RESOLUTIONS);
    }

    private static void directive(Clause clause, String name, Set<String> known) throws Wrong {
        String value = clause.directives().get(name);
        if (value != null && !known.contains(value)) {
            throw new Wrong(name + " of " + named(clause) + " is " + ManifestHeaders.shown(value) + "; write "
                    + String.join(" or ", known.stream().sorted().toList()));
        }
    }

    private static void ranges(Clause clause, String... attributes) throws Wrong {
        for (String attribute : attributes) {
            Attribute range = clause.attributes().get(attribute);
            if (range != null) {
                try {
                    if (!VersionRange.valueOf(range.value()).isEmpty()) {
                        continue;
                    }
                } catch (IllegalArgumentException e) {
                    // Told below.
                }
                throw new Wrong(ManifestHeaders.shown(range.value()) + " of " + named(clause)
                        + " is no range of versions; write one in quotation marks, such as \"[1.0,2)\"");
            }
        }
    }

    private static String named(Clause clause) {
        return ManifestHeaders.shown(clause.paths().getFirst());
    }

    private static void version(String text) throws Wrong {
        try {
            if (!text.isEmpty() && text.length() <= MAX_NAME) {
                Version.parseVersion(text);
                return;
            }
        } catch (IllegalArgumentException e) {
            // Told below.
        }
        throw new Wrong(ManifestHeaders.shown(text) + " is no version; write one such as 1.0.0");
    }

    private static void packageName(String name) throws Wrong {
        for (String part : name.split("\\.", -1)) {
            if (part.isEmpty()
                    || !Character.isJavaIdentifierStart(part.codePointAt(0))
                    || !part.codePoints().allMatch(Character::isJavaIdentifierPart)) {
                throw new Wrong(ManifestHeaders.shown(name) + " is no name of a package; correct it");
            }
        }
    }

    private static void typed(Clause clause) throws Wrong {
        for (Map.Entry<String, Attribute> entry : clause.attributes().entrySet()) {
            String type = entry.getValue().type().replace(" ", "");
            boolean list = type.startsWith("List");
            String each = type.equals("List") ? "" : list ? type.replaceFirst("^List<(.+)>$", "$1") : type;
            String what = "the attribute " + ManifestHeaders.shown(entry.getKey()) + " of " + named(clause);
            if (!SCALARS.contains(each)) {
                throw new Wrong(what + " has the type " + ManifestHeaders.shown(type)
                        + "; write String, Version, Long, Double or List of one of these");
            }
            for (String value : list
                    ? entry.getValue().value().split(",")
                    : new String[] {entry.getValue().value()}) {
                try {
                    switch (each) {
                        case "Version" -> Version.parseVersion(value.strip());
                        case "Long" -> Long.parseLong(value.strip());
                        case "Double" -> Double.parseDouble(value.strip());
                        default -> {}
                    }
                } catch (IllegalArgumentException e) {
                    throw new Wrong(
                            what + " is " + ManifestHeaders.shown(value) + ", which is no " + each + "; correct it");
                }
            }
        }
    }
}
