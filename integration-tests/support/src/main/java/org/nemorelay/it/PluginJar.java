package org.nemorelay.it;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/** A plugin bundle with one component, of a class and those of its package that it extends, as a build would make it. */
public final class PluginJar {
    private final String kind;
    private final Class<?> component;
    private final Class<?> service;
    private final Map<String, String> headers = new LinkedHashMap<>();

    /** @param service the interface that the component registers */
    public PluginJar(String kind, Class<?> component, Class<?> service) {
        this.kind = kind;
        this.component = component;
        this.service = service;
        headers.put("Manifest-Version", "1.0");
        headers.put("Bundle-ManifestVersion", "2");
        headers.put("Bundle-SymbolicName", kind.replace('_', '.'));
        headers.put("Bundle-Version", "1.0.0");
        headers.put("Import-Package", "org.nemorelay.plugin.api;version=\"[1.0,2)\",org.nemorelay.json");
        headers.put("Provide-Capability", "org.nemorelay.plugin;kind=" + kind);
        headers.put("Service-Component", "OSGI-INF/component.xml");
    }

    /** With this header of the manifest in the place of the usual one; an empty value leaves it out. */
    public PluginJar header(String name, String value) {
        if (value.isEmpty()) {
            headers.remove(name);
        } else {
            headers.put(name, value);
        }
        return this;
    }

    /** Puts the jar where it belongs in one step, readable by all and writable by its owner alone. */
    public Path deploy(Path plugins) {
        Path jar = plugins.resolve(kind + ".jar");
        try {
            Files.createDirectories(plugins);
            Files.setPosixFilePermissions(plugins, PosixFilePermissions.fromString("rwxr-xr-x"));
            Path whole = write(Files.createTempFile(plugins, "." + kind, ".tmp"));
            Files.move(whole, jar, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
            return jar;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes the jar to this file. */
    public Path write(Path jar) throws IOException {
        Manifest manifest = new Manifest();
        headers.forEach(manifest.getMainAttributes()::putValue);
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
            out.putNextEntry(new JarEntry("OSGI-INF/component.xml"));
            out.write("""
                    <scr:component xmlns:scr="http://www.osgi.org/xmlns/scr/v1.4.0" name="%s"
                            configuration-policy="require" configuration-pid="%s" init="1">
                      <service><provide interface="%s"/></service>
                      <implementation class="%s"/>
                    </scr:component>
                    """.formatted(kind, kind, service.getName(), component.getName())
                    .getBytes(StandardCharsets.UTF_8));
            for (Class<?> one = component; one.getPackage() == component.getPackage(); one = one.getSuperclass()) {
                String name = one.getName().replace('.', '/') + ".class";
                out.putNextEntry(new JarEntry(name));
                try (InputStream code = one.getClassLoader().getResourceAsStream(name)) {
                    code.transferTo(out);
                }
            }
        }
        Files.setPosixFilePermissions(jar, PosixFilePermissions.fromString("rw-r--r--"));
        return jar;
    }
}
