package org.nemorelay.launcher;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import org.nemorelay.config.LaunchOptions;

/** An installed tree of made-up bundles; their classes are those of the tests. */
public final class TestBundles {
    private final Path home;
    private final List<Path> jars = new ArrayList<>();

    public TestBundles(Path home) {
        this.home = home;
    }

    /** Adds {@code test:NAME:1} with these manifest headers, after those that were added before. */
    public TestBundles add(String name, Map<String, String> headers) throws IOException {
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.putValue("Bundle-ManifestVersion", "2");
        attributes.putValue("Bundle-SymbolicName", "test." + name);
        headers.forEach(attributes::putValue);
        Path jar = home.resolve(name + "-1.jar");
        try (OutputStream out = Files.newOutputStream(jar)) {
            new JarOutputStream(out, manifest).close();
        }
        jars.add(jar);
        return this;
    }

    public String classPath() {
        return jars.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    /** Writes the feature of role "test" with every bundle added so far. */
    public LaunchOptions feature() throws IOException {
        String bundles = jars.stream()
                .map(jar -> jar.getFileName().toString().replace("-1.jar", ""))
                .map(name -> "{\"id\":\"test:" + name + ":1\"}")
                .collect(Collectors.joining(","));
        Files.createDirectories(home.resolve("features"));
        Files.writeString(
                home.resolve("features/test.json"),
                "{\"feature-resource-version\":\"1.0\",\"id\":\"test:feature:1\",\"bundles\":[" + bundles + "]}");
        return new LaunchOptions("test", home, Map.of("flag", "value"), Map.of());
    }
}
