package org.nemorelay.it.carriers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.puppycrawl.tools.checkstyle.Checker;
import com.puppycrawl.tools.checkstyle.ConfigurationLoader;
import com.puppycrawl.tools.checkstyle.PropertiesExpander;
import com.puppycrawl.tools.checkstyle.api.AuditEvent;
import com.puppycrawl.tools.checkstyle.api.AuditListener;
import com.puppycrawl.tools.checkstyle.api.CheckstyleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The build check that keeps a transport's client, and its sentinels, in its carrier. */
class TransportClientTest {
    private static final Path BUILD = Path.of("../../build").toAbsolutePath().normalize();

    /** In two parts, since the check looks at this file too. */
    private static final String CLIENT = "io." + "nats.client.";

    @TempDir
    Path folder;

    private List<String> complaints(String where, String line) throws IOException, CheckstyleException {
        Path file = folder.resolve(where).resolve("Example.java");
        Files.createDirectories(file.getParent());
        Files.writeString(file, "package org.nemorelay.example;\n\n" + line + "\n\nclass Example {}\n");
        Properties properties = new Properties();
        properties.setProperty("build.folder", BUILD.toString());
        properties.setProperty("checkstyle.cache.file", folder.resolve("cache").toString());
        List<String> complaints = new ArrayList<>();
        Checker checker = new Checker();
        checker.setModuleClassLoader(Checker.class.getClassLoader());
        checker.configure(ConfigurationLoader.loadConfiguration(
                BUILD.resolve("checkstyle.xml").toString(), new PropertiesExpander(properties)));
        checker.addListener(new Complaints(complaints));
        checker.process(List.of(file.toFile()));
        checker.destroy();
        return complaints.stream().filter(text -> text.contains("transport")).toList();
    }

    @Test
    void onlyACarrierMayNameTheClient() throws Exception {
        String source = "src/main/java/org/nemorelay/x";
        for (String line : List.of(
                "import " + CLIENT + "Nats;",
                "import static " + CLIENT + "Nats.connect;",
                "// " + CLIENT + "JetStreamStatusException")) {
            assertEquals(1, complaints("bundles/nodes/" + source, line).size(), line);
            assertEquals(1, complaints("bundles/carriers/" + source, line).size(), line);
            assertEquals(0, complaints("bundles/carrier-nats/" + source, line).size(), line);
        }
        assertTrue(complaints("bundles/nodes/" + source, "import org.nemorelay.seams.Message;")
                .isEmpty());
    }

    private record Complaints(List<String> found) implements AuditListener {
        @Override
        public void addError(AuditEvent event) {
            found.add(event.getMessage());
        }

        @Override
        public void auditStarted(AuditEvent event) {}

        @Override
        public void auditFinished(AuditEvent event) {}

        @Override
        public void fileStarted(AuditEvent event) {}

        @Override
        public void fileFinished(AuditEvent event) {}

        @Override
        public void addException(AuditEvent event, Throwable thrown) {
            found.add("transport? " + thrown);
        }
    }
}
