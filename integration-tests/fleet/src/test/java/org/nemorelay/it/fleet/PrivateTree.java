package org.nemorelay.it.fleet;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.nemorelay.it.BundleVersion;
import org.nemorelay.it.Distribution;
import org.osgi.framework.Constants;

/** An installed tree whose program, features and carriers are a test's own; the rest are links to the one of the build. */
record PrivateTree(Path home) implements AutoCloseable {
    static PrivateTree below(Path folder) throws IOException {
        Path home = Files.createDirectory(folder.toRealPath().resolve("tree"));
        try (DirectoryStream<Path> parts = Files.newDirectoryStream(Distribution.tree())) {
            for (Path part : parts) {
                Path own = home.resolve(part.getFileName());
                switch (part.getFileName().toString()) {
                    case "bin", "features", "carriers" -> copy(part, Files.createDirectory(own));
                    default -> Files.createSymbolicLink(own, part.toRealPath());
                }
            }
        }
        return new PrivateTree(home);
    }

    private static void copy(Path from, Path to) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(from)) {
            for (Path file : files) {
                Files.copy(file, to.resolve(file.getFileName()), StandardCopyOption.COPY_ATTRIBUTES);
            }
        }
    }

    /** Takes the links away, of which a temporary folder's end would warn one by one. */
    @Override
    public void close() throws IOException {
        try (DirectoryStream<Path> parts = Files.newDirectoryStream(home, Files::isSymbolicLink)) {
            for (Path link : parts) {
                Files.delete(link);
            }
        }
    }

    String program() {
        return home.resolve("bin/nemo-relay").toString();
    }

    /** The bundle file of a carrier. */
    Path carrier(String name) throws IOException {
        try (DirectoryStream<Path> jars =
                Files.newDirectoryStream(home.resolve("carriers"), "org.nemorelay.carrier." + name + "-*.jar")) {
            return jars.iterator().next();
        }
    }

    /** Another version of a carrier in place of the one that is there, as a package manager puts it. */
    void replace(String carrier, String version) throws IOException {
        Path file = carrier(carrier);
        Path next = home.resolve("next.jar");
        BundleVersion.write(file, next, version);
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /** A bundle of classes of this test among the carriers of a role. */
    void addCarrier(String role, String name, Class<?>... classes) throws IOException {
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        Map.of(
                        Constants.BUNDLE_MANIFESTVERSION, "2",
                        Constants.BUNDLE_SYMBOLICNAME, name,
                        Constants.BUNDLE_VERSION, "1.0.0",
                        Constants.BUNDLE_ACTIVATOR, classes[0].getName(),
                        Constants.IMPORT_PACKAGE,
                                "org.osgi.framework,org.nemorelay.seams,org.nemorelay.seams.control,org.nemorelay.workerctl")
                .forEach((key, value) -> attributes.put(new Attributes.Name(key), value));
        Path jar = home.resolve("carriers/" + name + "-1.0.0.jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
            for (Class<?> type : classes) {
                String entry = type.getName().replace('.', '/') + ".class";
                out.putNextEntry(new JarEntry(entry));
                try (var in = type.getClassLoader().getResourceAsStream(entry)) {
                    in.transferTo(out);
                }
            }
        }
        Files.writeString(home.resolve("features/" + name + ".json"), """
                {"feature-resource-version": "1.0", "id": "test:%1$s:1.0.0",
                 "bundles": [{"id": "test:%1$s:1.0.0"}]}
                """.formatted(name));
        Path feature = home.resolve("features/" + role + ".json");
        Files.writeString(
                feature, Files.readString(feature).replace("[\"carrier-nats\"", "[\"" + name + "\", \"carrier-nats\""));
    }
}
