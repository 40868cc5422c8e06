package org.nemorelay.pluginhost.internal;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.MethodRefEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipInputStream;
import org.nemorelay.config.BundleFolders;

/**
 * What a jar must be before the framework sees it: whole, a bundle, without the relay's API inside, without a call that
 * ends the process. Everything is judged on a private copy, so that what is judged is what runs.
 */
final class JarCheck {
    /** Packages that only the relay provides, with all below them. */
    private static final List<String> API = List.of("org.nemorelay.plugin.api", "org.nemorelay.json");

    /** Of what is taken into memory at once. */
    private static final int MAX_BYTES = 16 << 20;

    /** What a class file's version is more than its Java's. */
    private static final int FIRST_JAVA = 44;

    private static final byte[] EXIT = constant("exit");
    private static final byte[] HALT = constant("halt");

    private JarCheck() {}

    /** Copies a file and returns the SHA-256 of what was copied, in lower-case hexadecimal digits. */
    static String copy(Path file, Path copy) throws IOException {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            try (OutputStream out = new DigestOutputStream(Files.newOutputStream(copy), digest)) {
                Files.copy(file, out);
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java runtime has SHA-256", e);
        }
    }

    /** Whether only the relay may provide a package. */
    static boolean api(String packageName) {
        return API.stream().anyMatch(api -> packageName.equals(api) || packageName.startsWith(api + "."));
    }

    /** Why the jar must not be installed. */
    static Optional<String> refusal(Path jar) {
        try (JarFile content = new JarFile(jar.toFile(), false)) {
            // Before anybody reads the manifest.
            for (ZipEntry entry : Collections.list(content.entries())) {
                try (InputStream in = content.getInputStream(entry)) {
                    Optional<String> refusal = entry(entry.getName(), in);
                    if (refusal.isPresent()) {
                        return refusal;
                    }
                }
            }
            Manifest manifest = content.getManifest();
            if (manifest == null) {
                return Optional.of("has no manifest, build it as an OSGi bundle");
            }
            if (manifest.getMainAttributes().getValue("Bundle-SymbolicName") == null) {
                return Optional.of("is no OSGi bundle, its manifest lacks Bundle-SymbolicName: build it with bnd");
            }
            if (manifest.getMainAttributes().getValue("Fragment-Host") != null) {
                return Optional.of("is a fragment, which becomes part of another bundle or of the framework itself:"
                        + " build it as a bundle of its own, without Fragment-Host");
            }
            return Optional.empty();
        } catch (ZipException e) {
            return Optional.of("is not a whole jar (" + e.getMessage() + "), copy it again");
        } catch (IOException e) {
            return Optional.of("is not a whole jar (" + BundleFolders.reason(e) + "), copy it again");
        }
    }

    private static Optional<String> entry(String name, InputStream in) throws IOException {
        Optional<String> refusal = name.endsWith(".jar") ? nested(in) : Optional.empty();
        if (refusal.isEmpty() && readWhole(name)) {
            byte[] bytes = in.readNBytes(MAX_BYTES + 1);
            refusal = bytes.length > MAX_BYTES
                    ? Optional.of("contains " + name + ", which is larger than " + (MAX_BYTES >> 20)
                            + " MiB: leave it out or divide it")
                    : file(name, bytes);
        }
        if (refusal.isEmpty()) {
            // To its end, whatever it is: the checksum tells whether all of it is there.
            in.transferTo(OutputStream.nullOutputStream());
        }
        return refusal;
    }

    /** Whether somebody takes all of it into memory. */
    private static boolean readWhole(String name) {
        return name.endsWith(".class") || name.equalsIgnoreCase(JarFile.MANIFEST_NAME) || name.startsWith("OSGI-INF/");
    }

    private static Optional<String> nested(InputStream in) throws IOException {
        ZipInputStream nested = new ZipInputStream(in);
        for (ZipEntry inner = nested.getNextEntry(); inner != null; inner = nested.getNextEntry()) {
            // A bundle's class path goes no deeper.
            Optional<String> refusal =
                    inner.getName().endsWith(".jar") ? Optional.empty() : entry(inner.getName(), nested);
            if (refusal.isPresent()) {
                return refusal;
            }
        }
        return Optional.empty();
    }

    private static Optional<String> file(String name, byte[] bytes) {
        if (name.endsWith(".class")) {
            int java = bytes.length < 8 ? 0 : ((bytes[6] & 0xff) << 8 | bytes[7] & 0xff) - FIRST_JAVA;
            if (java > Runtime.version().feature() && !name.startsWith("META-INF/")) {
                return Optional.of("contains the class " + className(name) + ", which is built for Java " + java
                        + ", and this is Java " + Runtime.version().feature() + ": build it with --release "
                        + Runtime.version().feature());
            }
            int slash = name.lastIndexOf('/');
            String packageName = slash < 0 ? "" : name.substring(0, slash).replace('/', '.');
            if (api(packageName)) {
                return Optional.of("contains the package " + packageName
                        + ", which only the relay provides: build it with the API as a provided dependency");
            }
            return contains(bytes, EXIT) || contains(bytes, HALT) ? processEnd(name, bytes) : Optional.empty();
        }
        return Optional.empty();
    }

    private static String className(String file) {
        return file.substring(0, file.length() - ".class".length()).replace('/', '.');
    }

    /** What is wrong with the bytes of a class that is to be loaded under this name; empty where nothing is. */
    static Optional<String> broken(String name, byte[] bytes) {
        try {
            ClassModel read = ClassFile.of().parse(bytes);
            read.forEach(_ -> {});
            String inside = read.thisClass().asInternalName().replace('/', '.');
            return inside.equals(name) ? Optional.empty() : Optional.of("holds the class " + inside);
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            return Optional.of("is no whole class file");
        }
    }

    private static Optional<String> processEnd(String name, byte[] bytes) {
        try {
            for (PoolEntry entry : ClassFile.of().parse(bytes).constantPool()) {
                if (entry instanceof MethodRefEntry method) {
                    String call = method.owner().asInternalName().replace('/', '.') + "."
                            + method.name().stringValue();
                    switch (call) {
                        case "java.lang.System.exit", "java.lang.Runtime.exit", "java.lang.Runtime.halt" -> {
                            return Optional.of("ends the whole worker: its class "
                                    + className(name)
                                    + " calls " + call.substring("java.lang.".length())
                                    + ", throw an exception instead");
                        }
                        default -> {}
                    }
                }
            }
            return Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.of("contains " + name + ", which is no class file: build it again");
        }
    }

    /** A name as the constant pool of a class file holds it. */
    private static byte[] constant(String text) {
        byte[] name = text.getBytes(StandardCharsets.US_ASCII);
        byte[] constant = new byte[name.length + 3];
        constant[0] = 1;
        constant[2] = (byte) name.length;
        System.arraycopy(name, 0, constant, 3, name.length);
        return constant;
    }

    private static boolean contains(byte[] bytes, byte[] part) {
        int last = bytes.length - part.length;
        for (int i = 0; i <= last; i++) {
            int j = 0;
            while (j < part.length && bytes[i + j] == part[j]) {
                j++;
            }
            if (j == part.length) {
                return true;
            }
        }
        return false;
    }
}
