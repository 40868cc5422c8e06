package org.nemorelay.launcher.internal;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import org.nemorelay.launcher.internal.Feature.MavenId;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.connect.ConnectContent;
import org.osgi.framework.connect.ConnectModule;
import org.osgi.framework.connect.ModuleConnector;

/**
 * Jars of the application class path as OSGi Connect modules (Core R8, 60). Their classes come from the application
 * class loader, where the ahead-of-time cache covers them; manifest and entries come from the jar. Any other location
 * stays with the framework.
 */
final class ClassPathBundles implements ModuleConnector {
    private static final String SCHEME = "classpath:";

    private final Map<String, Path> jars = new HashMap<>();

    /** @param classPath in the form of {@code java.class.path}; of two jars with one name the first counts */
    ClassPathBundles(String classPath) {
        for (String element : classPath.split(File.pathSeparator)) {
            if (element.endsWith(".jar")) {
                Path jar = Path.of(element);
                jars.putIfAbsent(jar.getFileName().toString(), jar);
            }
        }
    }

    /** The location under which the framework installs this artifact; fails when the class path does not hold it. */
    String location(MavenId id) {
        if (!jars.containsKey(id.fileName())) {
            throw new RelayException(
                    FailureKind.CONFIGURATION,
                    "bundle " + id + " is not on the class path: there is no " + id.fileName() + ", install again");
        }
        return SCHEME + id.fileName();
    }

    /** Whether a bundle is one of the class path. */
    static boolean holds(Bundle bundle) {
        return bundle.getLocation().startsWith(SCHEME);
    }

    @Override
    public void initialize(File storage, Map<String, String> configuration) {}

    @Override
    public Optional<ConnectModule> connect(String location) {
        if (!location.startsWith(SCHEME)) {
            return Optional.empty();
        }
        Path jar = jars.get(location.substring(SCHEME.length()));
        if (jar == null) {
            return Optional.empty();
        }
        ConnectContent content = new JarContent(jar);
        return Optional.of(() -> content);
    }

    @Override
    public Optional<BundleActivator> newBundleActivator() {
        return Optional.empty();
    }

    /** The framework opens a content before it reads from it and closes it when the bundle is uninstalled or it stops. */
    private static final class JarContent implements ConnectContent {
        private final Path path;
        private JarFile jar;

        JarContent(Path path) {
            this.path = path;
        }

        @Override
        public synchronized void open() throws IOException {
            if (jar == null) {
                jar = new JarFile(path.toFile(), false);
            }
        }

        @Override
        public synchronized void close() throws IOException {
            if (jar != null) {
                jar.close();
                jar = null;
            }
        }

        private synchronized JarFile jar() {
            if (jar == null) {
                throw new IllegalStateException(path + " is closed");
            }
            return jar;
        }

        @Override
        public Optional<Map<String, String>> getHeaders() {
            try {
                Attributes attributes = jar().getManifest().getMainAttributes();
                Map<String, String> headers = HashMap.newHashMap(attributes.size());
                attributes.forEach((name, value) -> headers.put(name.toString(), value.toString()));
                return Optional.of(Collections.unmodifiableMap(headers));
            } catch (IOException e) {
                throw new java.io.UncheckedIOException("manifest of " + path, e);
            }
        }

        @Override
        public Iterable<String> getEntries() {
            return () -> jar().stream().map(ZipEntry::getName).iterator();
        }

        @Override
        public Optional<ConnectEntry> getEntry(String name) {
            return Optional.ofNullable(jar().getEntry(name)).map(entry -> new JarEntryContent(jar(), entry));
        }

        @Override
        public Optional<ClassLoader> getClassLoader() {
            return Optional.of(ClassPathBundles.class.getClassLoader());
        }
    }

    private record JarEntryContent(JarFile jar, ZipEntry entry) implements ConnectContent.ConnectEntry {
        @Override
        public String getName() {
            return entry.getName();
        }

        @Override
        public long getContentLength() {
            return entry.getSize();
        }

        @Override
        public long getLastModified() {
            return entry.getTime();
        }

        @Override
        public InputStream getInputStream() throws IOException {
            return jar.getInputStream(entry);
        }
    }
}
