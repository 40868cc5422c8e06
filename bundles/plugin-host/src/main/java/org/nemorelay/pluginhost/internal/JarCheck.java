package org.nemorelay.pluginhost.internal;

import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.constantpool.MethodRefEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.reflect.AccessFlag;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collections;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;
import java.util.zip.ZipInputStream;
import org.nemorelay.config.BundleFolders;
import org.nemorelay.protocol.Reasons;
import org.osgi.framework.Constants;
import org.xml.sax.SAXException;

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

    private static final int BUFFER = 1 << 16;

    /** Of a file; its private copy takes as much of the disk. */
    private static final long MAX_FILE = 1L << 30;

    /** Of all that is in one, jars in it included: what is packed well takes its time, and everybody else's, to be looked at. */
    private static final long MAX_UNPACKED = 4L << 30;

    private long unpacked;

    private JarCheck() {}

    /** Why a file is not even copied: a pipe or device might never come to an end, or not even begin. */
    static Optional<String> uncopied(Path file) throws IOException {
        if (!Files.readAttributes(file, BasicFileAttributes.class).isRegularFile()) {
            return Optional.of("is not a file, put the bundle's jar in its place");
        }
        return Files.size(file) > MAX_FILE
                ? Optional.of("is larger than " + (MAX_FILE >> 30) + " GiB: leave out what is large")
                : Optional.empty();
    }

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
            JarCheck check = new JarCheck();
            Set<String> names = new HashSet<>();
            // Before anybody reads the manifest.
            for (ZipEntry entry : Collections.list(content.entries())) {
                if (!names.add(entry.getName()) && readWhole(entry.getName())) {
                    return Optional.of("contains " + Reasons.said(entry.getName()) + " twice: build it again");
                }
                try (InputStream in = content.getInputStream(entry)) {
                    Optional<String> refusal = check.entry(entry.getName(), in);
                    if (refusal.isPresent()) {
                        return refusal;
                    }
                }
            }
            return bundle(content, names);
        } catch (ManifestHeaders.Wrong e) {
            return Optional.of("has a wrong manifest: " + e.getMessage() + "; build it with bnd");
        } catch (ZipException e) {
            return Optional.of("is not a whole jar (" + e.getMessage() + "), copy it again");
        } catch (IOException e) {
            return Optional.of("is not a whole jar (" + BundleFolders.reason(e) + "), copy it again");
        }
    }

    private static Optional<String> bundle(JarFile content, Set<String> names)
            throws IOException, ManifestHeaders.Wrong {
        if (!names.contains(JarFile.MANIFEST_NAME)) {
            return Optional.of("has no manifest, build it as an OSGi bundle");
        }
        ManifestHeaders manifest = ManifestHeaders.read(bytes(content, JarFile.MANIFEST_NAME));
        if (manifest.value(Constants.BUNDLE_SYMBOLICNAME).isEmpty()) {
            return Optional.of("is no OSGi bundle, its manifest lacks Bundle-SymbolicName: build it with bnd");
        }
        if (manifest.value(Constants.FRAGMENT_HOST).isPresent()) {
            return Optional.of("is a fragment, which becomes part of another bundle or of the framework itself:"
                    + " build it as a bundle of its own, without Fragment-Host");
        }
        Optional<String> wrong = ManifestCheck.refusal(manifest, names);
        if (wrong.isPresent()) {
            return wrong;
        }
        for (ManifestHeaders.Clause clause : manifest.clauses(Constants.BUNDLE_CLASSPATH)) {
            for (String path : clause.paths()) {
                String name = ManifestCheck.relative(path);
                if (names.contains(name) && !name.endsWith("/") && !isJar(content, name)) {
                    return Optional.of("has " + Reasons.said(path)
                            + " on its Bundle-ClassPath, which is not a whole jar: build it again");
                }
            }
        }
        for (ManifestHeaders.Clause clause : manifest.clauses(ComponentXml.HEADER)) {
            for (String path : clause.paths()) {
                String name = ManifestCheck.relative(path);
                if (names.contains(name)) {
                    try {
                        ComponentXml.read(new ByteArrayInputStream(bytes(content, name)));
                    } catch (SAXException e) {
                        return Optional.of("has the component description " + Reasons.said(path) + ", which "
                                + e.getMessage() + ": build it again");
                    }
                }
            }
        }
        return Optional.empty();
    }

    private static byte[] bytes(JarFile content, String name) throws IOException {
        try (InputStream in = content.getInputStream(content.getEntry(name))) {
            return in.readNBytes(MAX_BYTES);
        }
    }

    /** As the framework opens it: a copy of its own. */
    private static boolean isJar(JarFile content, String name) throws IOException {
        Path copy = Files.createTempFile("nemo-relay-nested-", ".jar");
        try {
            try (InputStream in = content.getInputStream(content.getEntry(name))) {
                Files.copy(in, copy, StandardCopyOption.REPLACE_EXISTING);
            }
            new ZipFile(copy.toFile()).close();
            return true;
        } catch (ZipException e) {
            return false;
        } finally {
            Files.delete(copy);
        }
    }

    private Optional<String> entry(String name, InputStream in) throws IOException {
        if (name.startsWith("/") || List.of(name.split("[/\\\\]", -1)).contains("..")) {
            return Optional.of(
                    "contains " + ManifestHeaders.shown(name) + ", a place outside of the jar: build it again");
        }
        Optional<String> refusal = name.endsWith(".jar") ? nested(name, in) : Optional.empty();
        return refusal.isPresent() ? refusal : rest(name, in);
    }

    private Optional<String> rest(String name, InputStream in) throws IOException {
        Optional<String> refusal = Optional.empty();
        if (readWhole(name)) {
            byte[] bytes = in.readNBytes(MAX_BYTES + 1);
            unpacked += bytes.length;
            refusal = bytes.length > MAX_BYTES
                    ? Optional.of("contains " + Reasons.said(name) + ", which is larger than " + (MAX_BYTES >> 20)
                            + " MiB: leave it out or divide it")
                    : file(name, bytes);
        }
        // To its end, whatever it is: the checksum tells whether all of it is there.
        byte[] buffer = new byte[BUFFER];
        for (int count = 0; refusal.isEmpty() && count >= 0; count = in.read(buffer)) {
            unpacked += count;
            if (unpacked > MAX_UNPACKED) {
                refusal = Optional.of("contains more than " + (MAX_UNPACKED >> 30) + " GiB, at " + Reasons.said(name)
                        + ": leave out what is large");
            }
        }
        return refusal;
    }

    /** Whether somebody takes all of it into memory. */
    private static boolean readWhole(String name) {
        return name.endsWith(".class") || name.equalsIgnoreCase(JarFile.MANIFEST_NAME) || name.startsWith("OSGI-INF/");
    }

    private Optional<String> nested(String name, InputStream in) throws IOException {
        ZipInputStream nested = new ZipInputStream(in);
        try {
            for (ZipEntry inner = nested.getNextEntry(); inner != null; inner = nested.getNextEntry()) {
                // A bundle's class path goes no deeper.
                Optional<String> refusal = rest(inner.getName(), nested);
                if (refusal.isPresent()) {
                    return refusal;
                }
            }
            return Optional.empty();
        } catch (ZipException | EOFException e) {
            return Optional.of("contains " + Reasons.said(name) + ", which is not a whole jar: build it again");
        }
    }

    private static Optional<String> file(String name, byte[] bytes) {
        if (name.endsWith(".class")) {
            int java = bytes.length < 8 ? 0 : ((bytes[6] & 0xff) << 8 | bytes[7] & 0xff) - FIRST_JAVA;
            if (java > Runtime.version().feature() && !name.startsWith("META-INF/")) {
                return Optional.of("contains the class " + className(name) + ", which is built for Java " + java
                        + ", and this is Java " + Runtime.version().feature() + ": build it with --release "
                        + Runtime.version().feature());
            }
            String plain = name.replaceFirst("^META-INF/versions/\\d+/", "");
            int slash = plain.lastIndexOf('/');
            String packageName = slash < 0 ? "" : plain.substring(0, slash).replace('/', '.');
            if (api(packageName)) {
                return Optional.of("contains the package " + Reasons.said(packageName)
                        + ", which only the relay provides: build it with the API as a provided dependency");
            }
            return contains(bytes, EXIT) || contains(bytes, HALT) ? processEnd(name, bytes) : Optional.empty();
        }
        return Optional.empty();
    }

    private static String className(String file) {
        return Reasons.said(file.substring(0, file.length() - ".class".length()).replace('/', '.'));
    }

    /** What is wrong with the bytes of a class that is to be made under this name; empty where nothing is. */
    static Optional<String> broken(String name, byte[] bytes, boolean activator) {
        try {
            ClassModel read = ClassFile.of().parse(bytes);
            read.forEach(_ -> {});
            String inside = read.thisClass().asInternalName().replace('/', '.');
            if (!inside.equals(name)) {
                return Optional.of("holds the class " + Reasons.said(inside));
            }
            if (read.flags().has(AccessFlag.ABSTRACT)) {
                return Optional.of("holds an abstract class or an interface");
            }
            boolean own = read.superclass().isEmpty()
                    || read.superclass().get().asInternalName().equals("java/lang/Object");
            if (activator && own && read.interfaces().isEmpty()) {
                return Optional.of("holds no org.osgi.framework.BundleActivator");
            }
            if (activator && read.methods().stream().noneMatch(JarCheck::makesIt)) {
                return Optional.of("has no public constructor without parameters");
            }
            return Optional.empty();
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            return Optional.of("is no whole class file");
        }
    }

    private static boolean makesIt(MethodModel method) {
        return method.methodName().equalsString("<init>")
                && method.methodType().equalsString("()V")
                && method.flags().has(AccessFlag.PUBLIC);
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
            return Optional.of("contains " + Reasons.said(name) + ", which is no class file: build it again");
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
