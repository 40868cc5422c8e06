package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nemorelay.it.Answers;
import org.nemorelay.it.Await;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Proc;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;
import org.nemorelay.it.Requirement;
import org.nemorelay.it.User;

/**
 * The daemon with command, environment and confinement of its systemd unit, as far as they can be had without systemd: an
 * account of its own without home or capabilities, a file system that is read-only but for the state folder, other users'
 * homes hidden. Two users' sessions and workers run under their own accounts against it.
 */
class ServiceAccountTest {
    private static final int SERVICE = 61000;
    private static final List<Integer> UIDS = List.of(61001, 61002);

    /** Arguments: the state folder, a folder for temporary files, the homes, then the command. */
    private static final String CONFINE = """
            set -e
            mount --bind "$1" "$1"
            mount -t tmpfs -o mode=1777 tmpfs "$2"
            mount -t tmpfs -o ro tmpfs "$3"
            mount -o remount,bind,ro /
            shift 3
            exec setpriv --reuid=SERVICE --regid=SERVICE --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all -- "$@"
            """.replace("SERVICE", Integer.toString(SERVICE));

    private Path folder;

    @BeforeEach
    void readableFolder() throws IOException {
        Requirement.root("to run processes under the accounts of a service and of users");
        folder = Files.createTempDirectory("nemo-relay-service");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @AfterEach
    void remove() throws IOException, InterruptedException {
        if (folder != null) {
            new ProcessBuilder("rm", "-rf", folder.toString()).start().waitFor();
        }
    }

    @Test
    void servesOtherUsersAndLetsTheirStreamsFinish() throws IOException {
        CountDownLatch release = new CountDownLatch(1);
        try (MockProvider provider = new MockProvider()) {
            provider.respond("/v1/messages", Answers.anthropicStream("MOCK"));
            provider.respond("/v1/responses", (request, reply) -> {
                reply.head(200, "content-type: text/event-stream", "transfer-encoding: chunked");
                reply.chunk("one");
                release.await();
                reply.chunk("two").end();
            });
            Path executable = Distribution.privateTree(
                            folder.resolve("tree"), Relay.upstreamToml(provider), "version = 1\n")
                    .resolve("bin/nemo-relay");
            List<User> users = UIDS.stream()
                    .map(uid -> User.other(folder.resolve("homes/" + uid), uid))
                    .toList();
            List<McpSession> sessions = new ArrayList<>();
            Path state = User.other(folder.resolve("state"), SERVICE).home();
            Files.setPosixFilePermissions(state, PosixFilePermissions.fromString("rwx------"));
            try (Relay relay = service(executable, state)) {
                users.forEach(user -> sessions.add(McpSession.initialized(user, executable, relay)));
                Await.until(
                        "two ready workers",
                        Duration.ofSeconds(30),
                        () -> relay.workers().stream()
                                        .filter(worker -> worker.string("state").equals("ready"))
                                        .count()
                                == 2);
                assertEquals(
                        Stream.concat(Stream.of(SERVICE), UIDS.stream()).toList(),
                        ProcessTable.mentioning(folder.toString()).stream()
                                .filter(process -> process.arguments().contains("daemon"))
                                .map(ProcessTable.Entry::uid)
                                .sorted()
                                .toList());
                users.forEach(user -> serves(user, executable, relay));
                assertTrue(Files.exists(state.resolve("nemo-relay/daemon/daemon-identity.pk8")));

                try (RawHttp stream = new RawHttp(relay.port())) {
                    stream.send("POST", "/v1/responses", "{}", users.getFirst().header());
                    assertEquals(200, stream.head().status());
                    assertArrayEquals("one".getBytes(StandardCharsets.UTF_8), stream.chunk());
                    relay.process().signal("TERM");
                    Await.until("the daemon accepts no more", Duration.ofSeconds(10), () -> !accepts(relay));
                    assertTrue(relay.process().alive());
                    release.countDown();
                    assertArrayEquals("two".getBytes(StandardCharsets.UTF_8), stream.chunk());
                    assertEquals(0, stream.chunk().length);
                }
                assertEquals(
                        0,
                        relay.process().awaitExit(Duration.ofSeconds(10)),
                        relay.process().transcript());
            } finally {
                sessions.forEach(McpSession::end);
                sessions.forEach(McpSession::close);
            }
        }
    }

    /** A service whose state folder is somebody else's says so and does not start. */
    @Test
    void aStateFolderOfAnotherAccountIsRefused() throws IOException {
        Path state = User.other(folder.resolve("state"), UIDS.getFirst()).home();
        Files.setPosixFilePermissions(state, PosixFilePermissions.fromString("rwx------"));
        Files.createDirectories(folder.resolve("homes"));
        AssertionError refused = assertThrows(
                AssertionError.class, () -> service(Distribution.tree().resolve("bin/nemo-relay"), state));
        assertTrue(refused.getMessage().contains(state.toString()), refused.getMessage());
    }

    private Relay service(Path executable, Path state) throws IOException {
        List<String> unit =
                Files.readAllLines(Distribution.tree().resolve("share/systemd/system/nemo-relay-daemon.service"));
        int port = Relay.freePort();
        Path temporary = Files.createDirectories(folder.resolve("tmp"));
        Proc.Spec spec = Proc.spec()
                .command(values(unit, "ExecStart=")
                        .getFirst()
                        .replace("/usr/local/bin/nemo-relay", executable.toString())
                        .split(" "))
                .command("--port", Integer.toString(port))
                .env("TMPDIR", temporary.toString());
        for (String variable : values(unit, "Environment=")) {
            String[] pair = variable.split("=", 2);
            spec.env(pair[0], pair[1].replace("%S/nemo-relay", state.toString()));
        }
        return Relay.start(
                port,
                spec.under(List.of(
                        "unshare",
                        "--mount",
                        "--propagation=private",
                        "--",
                        "sh",
                        "-c",
                        CONFINE,
                        "confine",
                        state.toString(),
                        temporary.toString(),
                        folder.resolve("homes").toString())));
    }

    private static List<String> values(List<String> unit, String key) {
        return unit.stream()
                .filter(line -> line.startsWith(key))
                .map(line -> line.substring(key.length()))
                .toList();
    }

    private static void serves(User user, Path executable, Relay relay) {
        RawHttp.Answer answer = RawHttp.post(relay.port(), "/v1/messages", "{\"stream\":true}", user.header());
        assertEquals(200, answer.status());
        Proc.Result hook = user.withToken(
                        executable.toString(), "daemon", "hook", "codex", "--daemon-address", relay.address())
                .run("{\"hook_event_name\":\"PreToolUse\"}".getBytes(StandardCharsets.UTF_8), Duration.ofSeconds(10));
        assertEquals(0, hook.exit(), hook.stderr());
        assertEquals("{}", hook.stdout().strip());
    }

    private static boolean accepts(Relay relay) {
        try {
            return RawHttp.get(relay.port(), "/healthz").status() == 200;
        } catch (UncheckedIOException closed) {
            return false;
        }
    }
}
