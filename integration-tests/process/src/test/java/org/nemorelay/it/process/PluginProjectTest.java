package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.Proc;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;
import org.nemorelay.it.Requirement;

/** The way of a plugin's author, with Maven alone and outside the repository: archetype, build, the relay's plugin folder. */
@Timeout(300)
class PluginProjectTest {
    private static final Duration LIMIT = Duration.ofSeconds(120);
    private static final Path JDK = Path.of(System.getProperty("java.home"));

    @TempDir
    static Path folder;

    private static Path project;

    @BeforeAll
    static void theArchetypeMakesAProject() {
        Proc.Result made = maven(
                folder,
                JDK,
                "archetype:generate",
                "-DarchetypeCatalog=local",
                "-DarchetypeGroupId=org.nemorelay",
                "-DarchetypeArtifactId=nemo-relay-plugin-archetype",
                "-DarchetypeVersion=" + System.getProperty("nemorelay.version"),
                "-DgroupId=com.example",
                "-DartifactId=team-header",
                "-Dversion=1.0.0",
                "-Dpackage=com.example.team",
                "-Dkind=team_header");
        assertEquals(0, made.exit(), made::toString);
        project = folder.resolve("team-header");
    }

    @Test
    void whatItMadeBuildsAndItsJarActsOnceDropped() throws Exception {
        Proc.Result built = maven(project, JDK, "verify");
        assertEquals(0, built.exit(), built::toString);
        assertTrue(built.stdout().contains("Tests run: 3, Failures: 0, Errors: 0, Skipped: 0"), built.stdout());

        try (OneUser bench = new OneUser(folder.resolve("relay"));
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
            relay.awaitReadyWorker(mcp);
            Path etc = bench.executable.resolve("../../etc").normalize();
            Path plugins = Files.createDirectories(etc.resolve("plugins"));
            Files.setPosixFilePermissions(plugins, PosixFilePermissions.fromString("rwxr-xr-x"));
            Path jar = Files.copy(project.resolve("target/team-header-1.0.0.jar"), plugins.resolve("team-header.jar"));
            Files.setPosixFilePermissions(jar, PosixFilePermissions.fromString("rw-r--r--"));
            Path toml = etc.resolve("plugins.toml");
            Files.writeString(toml, Files.readString(toml) + Files.readString(project.resolve("plugins.toml")));
            Await.until(
                    () -> "a request has the header\n" + mcp.process().transcript(),
                    LIMIT,
                    () -> RawHttp.post(relay.port(), "/v1/messages", "{}", bench.user.header())
                                            .status()
                                    == 200
                            && bench.provider
                                    .received("/v1/messages")
                                    .getLast()
                                    .header("x-team")
                                    .equals(List.of("blue")));
        }
    }

    @Test
    void anOlderJdkIsToldInOneLine() throws Exception {
        Optional<Path> older = olderJava();
        Requirement.of(older.isPresent(), "needs a Java older than 25 beside it, such as openjdk-17-jre-headless");
        Proc.Result refused = maven(project, older.get(), "verify");
        assertNotEquals(0, refused.exit());
        List<String> told = refused.stdout()
                .lines()
                .filter(line -> line.contains("needs JDK"))
                .toList();
        assertEquals(1, told.size(), refused::toString);
        assertTrue(
                told.getFirst()
                        .matches("\\[ERROR\\] A nemo-relay plugin needs JDK 25 or newer, this is [0-9.]+:"
                                + " set JAVA_HOME to one"),
                told.getFirst());
    }

    @Test
    void aBundleWithTheApiInsideIsNotBuilt() throws Exception {
        String version = System.getProperty("nemorelay.version");
        Map<String, String> ways = new LinkedHashMap<>();
        ways.put("exports", "Export-Package: org.nemorelay.plugin.api");
        ways.put("takes", "-privatepackage: com.example.team,org.nemorelay.json");
        ways.put("unpacks", "-includeresource: @org.nemorelay.plugin.api-*.jar");
        ways.put("nests", "-includeresource: x.jar=org.nemorelay.plugin.api-" + version + ".jar;lib:=true");
        ways.put("carries", "-includeresource: lib/x.jar=org.nemorelay.plugin.api-" + version + ".jar");
        ways.put("clean", "Bundle-Name: with an own bnd.bnd");
        Path all = Files.createDirectory(folder.resolve("all"));
        StringBuilder modules = new StringBuilder();
        for (Map.Entry<String, String> way : ways.entrySet()) {
            Path module = Files.createDirectory(all.resolve(way.getKey()));
            copy(project.resolve("src/main"), module.resolve("src/main"));
            Files.writeString(
                    module.resolve("pom.xml"),
                    Files.readString(project.resolve("pom.xml")).replace("team-header", way.getKey()));
            Files.writeString(module.resolve("bnd.bnd"), way.getValue() + "\n");
            modules.append("<module>").append(way.getKey()).append("</module>");
        }
        Files.writeString(
                all.resolve("pom.xml"),
                "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion><groupId>com.example"
                        + "</groupId><artifactId>all</artifactId><version>1</version><packaging>pom</packaging><modules>"
                        + modules + "</modules></project>");
        Proc.Result result = maven(all, JDK, "--fail-at-end", "package");
        for (String way : ways.keySet()) {
            boolean refused = result.stdout()
                    .lines()
                    .anyMatch(line -> line.contains("on project " + way + ": ")
                            && (way.equals("carries")
                                    ? line.contains("The bundle contains lib/x.jar, and not on its Bundle-ClassPath: ")
                                    : line.contains("The bundle contains or exports org.nemorelay.")
                                            && line.contains("which only the relay provides: leave it out of")));
            assertEquals(!way.equals("clean"), refused, result::toString);
            assertEquals(way.equals("clean"), Files.exists(all.resolve(way + "/target/" + way + "-1.0.0.jar")), way);
        }
    }

    /** Offline, and online only where the local repository lacks a plugin of Maven's. */
    private static Proc.Result maven(Path in, Path java, String... words) {
        Proc.Result offline = run(in, java, List.of("--offline"), words);
        return offline.exit() != 0
                        && (offline.stdout().contains("offline mode")
                                || offline.stdout().contains("has not been downloaded from it before"))
                ? run(in, java, List.of(), words)
                : offline;
    }

    private static Proc.Result run(Path in, Path java, List<String> more, String... words) {
        return Proc.spec()
                .command("mvn", "--batch-mode", "-Dmaven.repo.local=" + System.getProperty("localRepository"))
                .command(more)
                .command(words)
                .env("HOME", System.getProperty("user.home"))
                .env("JAVA_HOME", java.toString())
                .in(in)
                .run(LIMIT);
    }

    private static Optional<Path> olderJava() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/usr/lib/jvm"))) {
            return all.filter(java -> Files.isExecutable(java.resolve("bin/java")))
                    .filter(PluginProjectTest::older)
                    .findFirst();
        }
    }

    private static boolean older(Path java) {
        try {
            // A runtime without a release file is one that nobody can tell the version of.
            return Files.isRegularFile(java.resolve("release"))
                    && Files.readString(java.resolve("release")).contains("JAVA_VERSION=\"17");
        } catch (IOException e) {
            return false;
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path target = to.resolve(from.relativize(file).toString());
                Files.createDirectories(target.getParent());
                Files.copy(file, target);
            }
        }
    }
}
