package org.nemorelay.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.identity.ClientTokens.Problem;
import org.nemorelay.identity.ClientTokens.Resolved;
import org.nemorelay.identity.ClientTokens.Skipped;
import org.nemorelay.identity.ClientTokens.Source;
import org.nemorelay.protocol.RouteToken;

class ClientTokenTest {
    private static final String GOOD = "6ABczPkGGtD7g_0xg-a9dnUM0oftASYPYSzz0yvegK0";
    private static final String OTHER = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc";

    @TempDir
    Path temp;

    private Path file() {
        return temp.resolve("nemo-relay/.client-token");
    }

    private ClientTokens tokens(int uid) {
        return new ClientTokens(file(), new EffectiveUser(uid));
    }

    private ClientTokens tokens() throws IOException {
        return tokens(Folders.owner(temp));
    }

    private Resolved resolve(String environment) throws IOException {
        return tokens().resolve(Map.of(ClientTokens.VARIABLE, environment));
    }

    @Test
    void case99EnvironmentBeatsFileAndBadEnvironmentFallsBack() throws IOException {
        put(GOOD + "\n", "rw-------");
        assertEquals(Source.ENV, resolve(OTHER).source());
        assertEquals(OTHER, text(resolve(OTHER)));
        assertEquals(List.of(), resolve("").skipped());
        assertEquals(GOOD, text(resolve("")));
        Resolved fallen = resolve("nonsense");
        assertEquals(Source.FILE, fallen.source());
        assertEquals(List.of(new Skipped(Source.ENV, Problem.INVALID_VALUE, Optional.empty())), fallen.skipped());
    }

    @Test
    void nothingAnywhere() throws IOException {
        assertEquals(new Resolved(Optional.empty(), Source.NONE, List.of()), resolve(""));
        assertEquals(Source.NONE, ClientTokens.inEnvironment(Map.of()).source());
        assertEquals(
                Source.ENV,
                ClientTokens.inEnvironment(Map.of(ClientTokens.VARIABLE, GOOD)).source());
    }

    @Test
    void bothFoldersOfAnEnvironmentCount() throws IOException {
        Path xdg = temp.resolve("xdg");
        Path home = temp.resolve("home");
        Map<String, String> both = Map.of("XDG_CONFIG_HOME", xdg.toString(), "HOME", home.toString());
        Path inXdg = xdg.resolve("nemo-relay/.client-token");
        Path inHome = home.resolve(".config/nemo-relay/.client-token");
        assertEquals(Source.NONE, ClientTokens.inEnvironment(both).source());
        put(inHome, GOOD);
        assertEquals(GOOD, text(ClientTokens.inEnvironment(both)));
        put(inXdg, GOOD + "\n");
        assertEquals(GOOD, text(ClientTokens.inEnvironment(both)));
        put(inXdg, OTHER);
        for (String message : List.of(
                Folders.failure(() -> ClientTokens.inEnvironment(both)),
                Folders.failure(() -> ClientTokens.ensure(both)))) {
            assertEquals(
                    inXdg + " and " + inHome + " hold different client tokens; remove the one that is not in use",
                    message);
        }
        assertEquals(OTHER, text(ClientTokens.inEnvironment(Map.of("XDG_CONFIG_HOME", xdg.toString()))));
        put(inXdg, "broken");
        assertEquals(GOOD, text(ClientTokens.inEnvironment(both)));
        assertEquals(
                List.of(new Skipped(Source.FILE, Problem.INVALID_VALUE, Optional.of(inXdg))),
                ClientTokens.inEnvironment(both).skipped());
    }

    @Test
    void case100ContentIsOneTokenAndOneLineEnding() throws IOException {
        for (String good : List.of(GOOD, GOOD + "\n", GOOD + "\r\n")) {
            put(good, "r--------");
            assertEquals(GOOD, text(resolve("")));
        }
        for (String bad : List.of("", "\n", GOOD + "\n\n", " " + GOOD, GOOD + " ", GOOD + "\r", GOOD + "=")) {
            put(bad, "rw-------");
            assertSkipped(Problem.INVALID_VALUE);
        }
        put(GOOD.repeat(3), "rw-------");
        assertSkipped(Problem.TOO_LARGE);
    }

    @Test
    void case101LooseModesAreRefusedAndNotRepaired() throws IOException {
        for (String mode : List.of("rw-r-----", "rw----r--", "rw-rw----", "rw-r--r--", "rwx-----x")) {
            put(GOOD, mode);
            assertSkipped(Problem.LOOSE_PERMISSIONS);
            assertEquals(mode, Folders.mode(file()));
        }
    }

    @Test
    void whatIsPassedOverIsNamedWithWhatToDo() throws IOException {
        put(GOOD, "rw-r--r--");
        assertEquals(
                "NEMO_RELAY_CLIENT_TOKEN does not hold a client token, which is 43 characters of base64url: correct it, or unset"
                        + " it and run `nemo-relay daemon token ensure`; " + file()
                        + " is open to others; its mode must be 0600 or 0400: chmod 600 " + file(),
                resolve("x").reasons());
        put("", "rw-------");
        assertEquals(
                file() + " does not hold a client token, which is 43 characters of base64url: remove it and run"
                        + " `nemo-relay daemon token ensure`",
                resolve("").reasons());
        put(GOOD, "rw-------");
        assertEquals("", resolve("").reasons());
    }

    @Test
    void case100And101LinksFoldersAndForeignFilesAreRefused() throws IOException {
        put(GOOD, "rw-------");
        Path elsewhere = temp.resolve("elsewhere");
        Files.move(file(), elsewhere);
        Files.createSymbolicLink(file(), elsewhere);
        assertSkipped(Problem.SYMLINK);
        Files.delete(file());
        Files.createDirectory(file());
        assertSkipped(Problem.NOT_REGULAR);
        Files.delete(file());
        put(GOOD, "rw-------");
        assertEquals(
                List.of(new Skipped(Source.FILE, Problem.FOREIGN_OWNER, Optional.of(file()))),
                tokens(4242).resolve(Map.of()).skipped());
    }

    @Test
    void ensureCreatesOnce() throws IOException {
        assumeTrue(Folders.root(), "only root can play another user");
        user(4242);
        ClientTokens.Ensured made = tokens(4242).ensure();
        assertEquals("created", made.status());
        assertEquals("rw-------", Folders.mode(file()));
        String content = Files.readString(file());
        assertTrue(RouteToken.parse(content.strip()).isPresent());
        Folders.owner(file(), 4242);
        assertEquals("existing", tokens(4242).ensure().status());
        assertEquals(content, Files.readString(file()));
    }

    @Test
    void case102EnsureRefusesRoot() {
        assertTrue(Folders.failure(() -> tokens(0).ensure()).contains("as root"));
        assertFalse(Files.exists(file()));
    }

    @Test
    void case102EnsureLeavesAnUnusableFileAlone() throws IOException {
        assumeTrue(Folders.root(), "only root can play another user");
        user(4242);
        put("junk", "rw-------");
        Folders.owner(file(), 4242);
        assertTrue(Folders.failure(() -> tokens(4242).ensure()).contains("left as it is"));
        assertEquals("junk", Files.readString(file()));
    }

    @Test
    void ensureWantsAFolderOfItsOwn() throws IOException {
        assumeTrue(Folders.root(), "only root can play another user");
        user(4242);
        Folders.mode(file().getParent(), "rwxrwx---");
        assertTrue(Folders.failure(() -> tokens(4242).ensure()).contains("writable by others"));
        Folders.mode(file().getParent(), "rwx------");
        Folders.owner(file().getParent(), 1);
        assertTrue(Folders.failure(() -> tokens(4242).ensure()).contains("another user"));
    }

    @Test
    void case102RacingCallersAgreeOnOneToken() throws Exception {
        assumeTrue(Folders.root(), "only root can play another user");
        user(4242);
        ConcurrentLinkedQueue<String> outcomes = new ConcurrentLinkedQueue<>();
        List<Thread> threads = Stream.generate(() -> Thread.ofPlatform().start(() -> {
                    try {
                        outcomes.add(tokens(4242).ensure().status());
                    } catch (RuntimeException e) {
                        // Root makes root's files: the loser of the race sees a foreign one.
                        outcomes.add(e.getMessage().contains("another user") ? "existing" : e.getMessage());
                    }
                }))
                .limit(8)
                .toList();
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(1, outcomes.stream().filter("created"::equals).count(), outcomes.toString());
        assertEquals(7, outcomes.stream().filter("existing"::equals).count(), outcomes.toString());
        try (Stream<Path> left = Files.list(file().getParent())) {
            assertEquals(
                    Set.of(".client-token"),
                    left.map(path -> path.getFileName().toString()).collect(Collectors.toSet()));
        }
    }

    private void assertSkipped(Problem problem) throws IOException {
        assertEquals(
                new Resolved(
                        Optional.empty(), Source.NONE, List.of(new Skipped(Source.FILE, problem, Optional.of(file())))),
                resolve(""));
    }

    private static String text(Resolved resolved) {
        return resolved.token().orElseThrow().text();
    }

    private void user(int uid) throws IOException {
        Files.createDirectories(file().getParent());
        Folders.owner(file().getParent(), uid);
    }

    private static void put(Path place, String content) throws IOException {
        Files.createDirectories(place.getParent());
        Files.writeString(place, content);
        Folders.mode(place, "rw-------");
    }

    private void put(String content, String mode) throws IOException {
        Files.createDirectories(file().getParent());
        Files.deleteIfExists(file());
        Files.writeString(file(), content);
        Folders.mode(file(), mode);
    }
}
