package org.nemorelay.pluginhost.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntConsumer;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.json.Json;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.plugin.api.EventSubscriber;
import org.nemorelay.pluginhost.PluginStatus;
import org.nemorelay.pluginhost.internal.MadeUpPlugins.Appending;
import org.osgi.framework.Bundle;

/** What is wrong with a jar is told before anything of it runs, and the rest serves. */
@Timeout(120)
class JarsThatAreRefusedTest extends WithHost {
    private static final Optional<Boolean> REQUIRED = Optional.of(true);

    @Test
    void filesThatAreNoBundlesAreNamedAndTheRestServes() throws Exception {
        host.jar("plugins/good.jar", "good", Appending.class, Map.of());
        Path whole = host.jar("plugins/half.jar", "half", Appending.class, Map.of());
        byte[] bytes = Files.readAllBytes(whole);
        Files.write(whole, Arrays.copyOf(bytes, bytes.length / 2));
        Path empty = host.home.resolve("plugins/empty.jar");
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(empty))) {
            zip.putNextEntry(new ZipEntry("x"));
        }
        Path plain = host.jar("plugins/plain.jar", "plain", Appending.class, Map.of());
        try (var jar = new java.util.jar.JarOutputStream(Files.newOutputStream(plain), new java.util.jar.Manifest())) {
            jar.putNextEntry(new ZipEntry("x"));
        }
        Path strange = host.jar("plugins/strange.jar", "strange", Appending.class, Map.of("Bundle-Version", "first"));
        host.plan("good", BY_KIND, Map.of("file", folder.resolve("f").toString()));
        start();
        logged("ERROR plugin_quarantined: plugin file " + strange
                + " has a wrong Bundle-Version in its manifest: \"first\"" + " is no version; write one such as 1.0.0");
        logged("ERROR plugin_quarantined: plugin file " + whole + " is not a whole jar (");
        logged("ERROR plugin_quarantined: plugin file " + empty + " has no manifest, build it as an OSGi bundle");
        logged("ERROR plugin_quarantined: plugin file " + plain
                + " is no OSGi bundle, its manifest lacks Bundle-SymbolicName: build it with bnd");
    }

    /** One of the framework would stop the worker when its file goes. */
    @Test
    void aFragmentIsRefused() throws Exception {
        Path framework = host.jar(
                "plugins/framework.jar",
                "framework",
                Appending.class,
                Map.of("Fragment-Host", "system.bundle; extension:=framework"));
        Path other =
                host.jar("plugins/other.jar", "other", Appending.class, Map.of("Fragment-Host", "plugins.good.jar"));
        host.jar("plugins/good.jar", "good", Appending.class, Map.of());
        host.plan("good", BY_KIND, Map.of()).start();
        for (Path fragment : List.of(framework, other)) {
            host.awaitLog("ERROR plugin_quarantined: plugin file " + fragment
                    + " is a fragment, which becomes part of another bundle or of the framework itself:");
        }
    }

    /** What is not the API may be another or none in the next version; who gets along without a library does without. */
    @Test
    void theRelaysInsideIsNotForPlugins() throws Exception {
        String inside = "org.apache.felix.scr.info";
        Path imports = host.jar(
                "plugins/imports.jar", "imports", Appending.class, Map.of("Import-Package", api() + "," + inside));
        Path requires = host.jar(
                "plugins/requires.jar", "requires", Appending.class, Map.of("Require-Bundle", "org.apache.felix.scr"));
        Path later = host.jar(
                "plugins/later.jar",
                "later",
                Appending.class,
                Map.of("Import-Package", "org.nemorelay.plugin.api;version=\"[9,10)\";resolution:=optional"));
        host.jar(
                "plugins/without.jar",
                "without",
                Appending.class,
                Map.of(
                        "Import-Package",
                        api() + "," + inside + ";resolution:=optional,org.osgi.service.cm,org.osgi.framework",
                        "DynamicImport-Package",
                        "*",
                        "Require-Bundle",
                        "org.apache.felix.scr;resolution:=optional"));
        Map<String, Object> file = Map.of("file", folder.resolve("f").toString());
        host.plan("without", BY_KIND, file).plan("later", OPTIONAL, file);
        start();
        logged("ERROR plugin_quarantined: plugin file " + imports + " imports the package " + inside
                + ", which is the relay's inside: a plugin may import org.nemorelay.plugin.api, ");
        logged("ERROR plugin_quarantined: plugin file " + requires
                + " requires the bundle org.apache.felix.scr, which is" + " the relay's inside: ");
        logged("ERROR plugin_quarantined: " + later + ": plugin \"later\" needs the package org.nemorelay.plugin.api in"
                + " version 9.0.0 or later, below 10.0.0, which nothing here provides; ");
        Bundle without = bundles().stream()
                .filter(bundle -> bundle.getSymbolicName().equals("plugins.without.jar"))
                .findFirst()
                .orElseThrow();
        assertThrows(ClassNotFoundException.class, () -> without.loadClass(inside + ".ScrInfo"));
        without.loadClass("org.osgi.service.cm.ConfigurationAdmin");
    }

    private static String api() {
        return "org.nemorelay.plugin.api;version=\"[1.0,2)\"";
    }

    @Test
    void whatIsInsideOfAJarIsLookedAtAsTheFrameworkWould() throws Exception {
        Path out = host.jar("plugins/out.jar", "out", Appending.class, Map.of());
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(out))) {
            zip.putNextEntry(new ZipEntry("lib/../../x.txt"));
        }
        Path junk = host.jar("plugins/junk.jar", "junk", Appending.class, Map.of("Bundle-ClassPath", ".,lib/a.jar"));
        put(junk, "lib/a.jar", "junk".getBytes(StandardCharsets.UTF_8));
        Path xml = host.jar("plugins/xml.jar", "xml", Appending.class, Map.of());
        put(xml, "OSGI-INF/xml.xml", "<scr:component".getBytes(StandardCharsets.UTF_8));
        Path none = host.jar("plugins/none.jar", "none", Appending.class, Map.of());
        put(none, "OSGI-INF/none.xml", "<a/>".getBytes(StandardCharsets.UTF_8));
        Path versioned =
                host.jar("plugins/versioned.jar", "versioned", Appending.class, Map.of("Multi-Release", "true"));
        put(versioned, "META-INF/versions/25/org/nemorelay/plugin/api/Event.class", code(Event.class));
        host.start();
        host.awaitLog("ERROR plugin_quarantined: plugin file " + out
                + " contains \"lib/../../x.txt\", a place outside of" + " the jar: build it again");
        host.awaitLog("ERROR plugin_quarantined: plugin file " + junk
                + " has lib/a.jar on its Bundle-ClassPath, which is" + " not a whole jar: build it again");
        host.awaitLog(
                "ERROR plugin_quarantined: plugin file " + xml + " has the component description OSGI-INF/xml.xml,"
                        + " which is no well-formed XML without DOCTYPE at line 1: build it again");
        host.awaitLog(
                "ERROR plugin_quarantined: plugin file " + none + " has the component description OSGI-INF/none.xml,"
                        + " which describes no component: build it again");
        host.awaitLog("ERROR plugin_quarantined: plugin file " + versioned
                + " contains the package org.nemorelay.plugin.api, which only the relay provides");
    }

    /** Neither the disk nor the time of all the others is one file's. */
    @Test
    void whatIsTooLargeForTheDiskIsNotCopied() throws Exception {
        Path large = host.home.resolve("plugins/large.jar");
        try (RandomAccessFile file = new RandomAccessFile(large.toFile(), "rw")) {
            file.setLength((1L << 30) + 1);
        }
        Files.setPosixFilePermissions(large, PosixFilePermissions.fromString("rw-r--r--"));
        host.start();
        host.awaitLog(
                "ERROR plugin_quarantined: plugin file " + large + " is larger than 1 GiB: leave out what is large");
    }

    @Test
    void anActivatorThatCannotBeMadeIsNamed() throws Exception {
        Path jar =
                host.jar("plugins/x.jar", "x", Appending.class, Map.of("Bundle-Activator", Appending.class.getName()));
        host.plan("x", REQUIRED, Map.of()).start();
        assertEquals(
                Optional.of(jar + ": plugin \"x\" Bundle-Activator names the class " + Appending.class.getName()
                        + ", whose file " + Appending.class.getName().replace('.', '/')
                        + ".class has no public constructor without parameters; build it again"),
                host.failure());
    }

    /** A little jar is not to take all of the memory. */
    @Test
    void whatIsTooLargeForTheMemoryIsRefusedAndWhatNobodyReadsIsNot() throws Exception {
        Path large = host.jar("plugins/large.jar", "large", Appending.class, Map.of());
        Path inside = host.jar("plugins/inside.jar", "inside", Appending.class, Map.of());
        Path good = host.jar("plugins/good.jar", "good", Appending.class, Map.of());
        putZeros(large, "com/example/Large.class", 17);
        ByteArrayOutputStream library = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(library)) {
            zip.putNextEntry(new ZipEntry("META-INF/MANIFEST.MF"));
            zip.write(new byte[17 << 20]);
        }
        put(inside, "lib/x.jar", library.toByteArray());
        putZeros(good, "data.bin", Math.toIntExact(Runtime.getRuntime().maxMemory() >> 20) + 64);
        host.plan("good", BY_KIND, Map.of("file", folder.resolve("f").toString()));
        start();
        host.awaitLog("ERROR plugin_quarantined: plugin file " + large
                + " contains com/example/Large.class, which is larger" + " than 16 MiB: leave it out or divide it");
        host.awaitLog("ERROR plugin_quarantined: plugin file " + inside
                + " contains META-INF/MANIFEST.MF, which is larger" + " than 16 MiB: leave it out or divide it");
    }

    @Test
    void aClassOfALaterJavaIsRefused() throws Exception {
        Path later = host.jar("plugins/later.jar", "later", Appending.class, Map.of());
        byte[] code = code(Appending.class);
        int here = Runtime.version().feature();
        code[7] = (byte) (44 + here + 1);
        put(later, Appending.class.getName().replace('.', '/') + ".class", code);
        Path platform = host.jar(
                "plugins/platform.jar",
                "platform",
                Appending.class,
                Map.of("Require-Capability", "osgi.ee;filter:=\"(&(osgi.ee=JavaSE)(version=99))\""));
        host.plan("platform", REQUIRED, Map.of()).start();
        host.awaitLog(
                "ERROR plugin_quarantined: plugin file " + later + " contains the class " + Appending.class.getName()
                        + ", which is built for Java " + (here + 1) + ", and this is Java " + here
                        + ": build it with --release "
                        + here);
        assertEquals(
                Optional.of(platform
                        + ": plugin \"platform\" needs the Java platform JavaSE in version 99 (this is Java " + here
                        + "), which nothing here provides; build it for this version or add what it needs"),
                host.failure());
    }

    @Test
    void aClassThatTheJarNamesAndLacksIsNamed() throws Exception {
        Path jar = host.jar("plugins/x.jar", "x", Appending.class, Map.of());
        String file = Appending.class.getName().replace('.', '/') + ".class";
        try (FileSystem files = FileSystems.newFileSystem(jar)) {
            Files.delete(files.getPath(file));
        }
        Files.setPosixFilePermissions(jar, PosixFilePermissions.fromString("rw-r--r--"));
        host.plan("x", REQUIRED, Map.of()).start();
        assertEquals(
                Optional.of(jar + ": plugin \"x\" OSGI-INF/x.xml names the class " + Appending.class.getName()
                        + ", which is not in the jar; build it again"),
                host.failure());
    }

    @Test
    void aComponentClassThatIsCutOffIsNamed() throws Exception {
        Path jar = host.jar("plugins/x.jar", "x", Appending.class, Map.of());
        String file = Appending.class.getName().replace('.', '/') + ".class";
        put(jar, file, Arrays.copyOf(code(Appending.class), 100));
        host.plan("x", REQUIRED, Map.of()).start();
        assertEquals(
                Optional.of(jar + ": plugin \"x\" OSGI-INF/x.xml names the class " + Appending.class.getName()
                        + ", whose file " + file + " is no whole class file; build it again"),
                host.failure());
    }

    @Test
    void anActivatorThatIsNotThereIsNamed() throws Exception {
        Path jar = host.jar("plugins/x.jar", "x", Appending.class, Map.of("Bundle-Activator", "com.example.Activator"));
        host.plan("x", REQUIRED, Map.of()).start();
        assertEquals(
                Optional.of(jar + ": plugin \"x\" Bundle-Activator names the class com.example.Activator, which is not"
                        + " in the jar; build it again"),
                host.failure());
    }

    /** Requests would be given to classes of that name that are not the relay's. */
    @Test
    void aPluginThatBringsTheApiIsRefused() throws Exception {
        Path inside = host.jar("plugins/inside.jar", "inside", Appending.class, Map.of());
        Path nested =
                host.jar("plugins/nested.jar", "nested", Appending.class, Map.of("Bundle-ClassPath", ".,lib/x.jar"));
        Path lent = host.jar(
                "plugins/lent.jar",
                "lent",
                Appending.class,
                Map.of("Export-Package", "org.nemorelay.plugin.api;version=\"1.9\""));
        host.jar("plugins/good.jar", "good", Appending.class, Map.of());
        put(inside, "org/nemorelay/plugin/api/Event.class", code(Event.class));
        ByteArrayOutputStream library = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(library)) {
            zip.putNextEntry(new ZipEntry("org/nemorelay/json/Json.class"));
            zip.write(code(Json.class));
        }
        put(nested, "lib/x.jar", library.toByteArray());
        host.plan("good", BY_KIND, Map.of("file", folder.resolve("f").toString()));
        start();
        String provided = ", which only the relay provides: build it with the API as a provided dependency";
        logged("ERROR plugin_quarantined: plugin file " + inside + " contains the package org.nemorelay.plugin.api"
                + provided);
        logged("ERROR plugin_quarantined: plugin file " + nested + " contains the package org.nemorelay.json"
                + provided);
        logged("ERROR plugin_quarantined: plugin file " + lent + " exports the package org.nemorelay.plugin.api,"
                + " which only the relay provides: leave it out of Export-Package");
        assertEquals(1, plugins.snapshot().eventSinks().size());
    }

    @Test
    void whatWouldEndTheWorkerIsRefused() throws Exception {
        Path halts = host.jar("plugins/halts.jar", "halts", Halting.class, Map.of());
        Path refers = host.jar("plugins/refers.jar", "refers", Referring.class, Map.of());
        start();
        logged("ERROR plugin_quarantined: plugin file " + halts + " ends the whole worker: its class "
                + Halting.class.getName() + " calls Runtime.halt, throw an exception instead");
        logged("ERROR plugin_quarantined: plugin file " + refers + " ends the whole worker: its class "
                + Referring.class.getName() + " calls System.exit, throw an exception instead");
    }

    @Test
    void theFileThatIsPinnedRuns() throws Exception {
        Path jar = host.jar("plugins/x.jar", "x", Appending.class, Map.of());
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(jar));
        host.pin(HexFormat.of().formatHex(digest))
                .plan("x", REQUIRED, Map.of("file", folder.resolve("f").toString()));
        start();
        assertEquals(PluginStatus.State.ACTIVE, plugins.status().getFirst().state());
    }

    @Test
    void whatOthersCanChangeIsRefused() throws Exception {
        Path open = host.jar("plugins/open.jar", "open", Appending.class, Map.of());
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-rw-r--"));
        start();
        logged("ERROR plugin_quarantined: plugin file " + open + " can be written by group or others, run chmod go-w "
                + open);
        assertEquals(1, host.log.size() - 1, host.log.toString());
    }

    @Test
    void aFolderThatOthersCanChangeIsRefusedWithAllInIt() throws Exception {
        Path place = host.home.resolve("plugins");
        host.jar("plugins/x.jar", "x", Appending.class, Map.of());
        Files.setPosixFilePermissions(place, PosixFilePermissions.fromString("rwxrwxrwx"));
        String open = place + " can be written by group or others, run chmod go-w " + place;
        host.plan("x", Optional.of(false), Map.of());
        start();
        logged("ERROR plugin_quarantined: plugin file " + open);
        String reason = state("x").reason();
        assertTrue(reason.contains(" provides the plugin kind \"x\"; " + open), reason);
    }

    @Test
    void foreignFilesAreRefused() throws Exception {
        Assumptions.assumeTrue(
                "root".equals(System.getProperty("user.name")), "only root can give a file to somebody else");
        Path foreign = host.jar("plugins/foreign.jar", "foreign", Appending.class, Map.of());
        Files.setAttribute(foreign, "unix:uid", 12345);
        start();
        logged("ERROR plugin_quarantined: plugin file " + foreign + " belongs to user id 12345, give it to root");
    }

    @Test
    void aDeclarationThatMakesNoSenseIsRefused() throws Exception {
        Path jar = host.jar(
                "plugins/x.jar",
                "x",
                Appending.class,
                Map.of("Provide-Capability", "org.nemorelay.plugin;kind=x;config:List<String>=\"deny strings\""));
        host.start();
        host.awaitLog("ERROR plugin_quarantined: plugin file " + jar + " declares its configuration wrongly: \"deny"
                + " strings\": \"strings\" is no kind of value, correct @PluginKind(config = ...)");
    }

    private static void putZeros(Path jar, String name, int mebibytes) throws Exception {
        try (FileSystem files = FileSystems.newFileSystem(jar)) {
            Path entry = files.getPath(name);
            if (entry.getParent() != null) {
                Files.createDirectories(entry.getParent());
            }
            try (OutputStream out = Files.newOutputStream(entry)) {
                byte[] zeros = new byte[1 << 20];
                for (int i = 0; i < mebibytes; i++) {
                    out.write(zeros);
                }
            }
        }
        Files.setPosixFilePermissions(jar, PosixFilePermissions.fromString("rw-r--r--"));
    }

    private static void put(Path jar, String name, byte[] content) throws Exception {
        try (FileSystem files = FileSystems.newFileSystem(jar)) {
            Path entry = files.getPath(name);
            Files.createDirectories(entry.getParent());
            Files.write(entry, content);
        }
        Files.setPosixFilePermissions(jar, PosixFilePermissions.fromString("rw-r--r--"));
    }

    private static byte[] code(Class<?> type) throws Exception {
        try (InputStream code = type.getResourceAsStream("/" + type.getName().replace('.', '/') + ".class")) {
            return code.readAllBytes();
        }
    }

    /** Would halt the machine. */
    public static final class Halting implements EventSubscriber {
        public Halting(Map<String, Object> properties) {}

        @Override
        public void onEvent(Event event) {
            Runtime.getRuntime().halt(1);
        }
    }

    /** Hands the end of the machine to somebody else. */
    public static final class Referring implements EventSubscriber {
        private final IntConsumer end = System::exit;

        public Referring(Map<String, Object> properties) {}

        @Override
        public void onEvent(Event event) {
            end.accept(1);
        }
    }
}
