package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Await;
import org.nemorelay.it.Proc;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;

/**
 * A daemon whose port is taken says by whom, in one line, and leaves that one alone (reports B41, B42): an own exit
 * status where it is this account's daemon, so that a supervisor does not try for ever.
 */
class SecondDaemonTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    private static Proc.Result start(OneUser bench, User user, int port) {
        return user.spec(bench.executable.toString(), "daemon", "--port", Integer.toString(port))
                .run(LIMIT);
    }

    /** What it said: a line of the log and a line for people. */
    private static String said(Proc.Result second) {
        List<String> lines =
                second.stderr().lines().filter(line -> !line.contains(" INFO ")).toList();
        assertEquals(2, lines.size(), second.stderr());
        assertTrue(
                lines.getFirst().contains(" event=command_failed command=daemon error_kind=launch "), second.stderr());
        assertEquals("", second.stdout());
        return lines.getLast();
    }

    @Test
    void itIsThisAccountsOwn() {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon()) {
            Proc.Result second = start(bench, bench.user, relay.port());
            assertEquals(3, second.exit(), second.stderr());
            assertEquals(
                    "launcher error: Address already in use: already running (pid "
                            + relay.process().pid() + ", port " + relay.port()
                            + "): this account's daemon serves at 127.0.0.1:" + relay.port(),
                    said(second));
            assertEquals(200, RawHttp.get(relay.port(), "/healthz").status());
        }
    }

    @Test
    void itIsAnotherAccounts() {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon()) {
            User other = User.self(folder.resolve("other"));
            Proc.Result second = start(bench, other, relay.port());
            assertEquals(1, second.exit(), second.stderr());
            assertEquals(
                    "launcher error: cannot listen on 127.0.0.1:" + relay.port()
                            + ": Address already in use; stop what holds the port or choose another",
                    said(second));
            assertEquals(200, RawHttp.get(relay.port(), "/healthz").status());
        }
    }

    /** It answers nothing, so nobody can tell who it is. */
    @Test
    void itIsAStrangers() throws Exception {
        try (OneUser bench = new OneUser(folder);
                ServerSocket silent = new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1"))) {
            Proc.Result second = start(bench, bench.user, silent.getLocalPort());
            assertEquals(1, second.exit(), second.stderr());
            assertTrue(
                    said(second)
                            .startsWith("launcher error: cannot listen on 127.0.0.1:" + silent.getLocalPort()
                                    + ": Address already in use"),
                    second.stderr());
        }
    }

    @Test
    void oneOfTwoThatStartTogetherServesAndHasTheControlSocket() {
        try (OneUser bench = new OneUser(folder)) {
            int port = Relay.freePort();
            Proc.Spec spec = bench.user.spec(bench.executable.toString(), "daemon", "--port", Integer.toString(port));
            try (Proc one = spec.start();
                    Proc other = spec.start()) {
                Await.until("one of the two ends", LIMIT, () -> !one.alive() || !other.alive());
                Proc winner = one.alive() ? one : other;
                Proc loser = one.alive() ? other : one;
                assertEquals(3, loser.awaitExit(LIMIT), loser.stderr());
                assertTrue(
                        loser.stderr().contains("already running (pid " + winner.pid() + ", port " + port),
                        loser.stderr());
                Proc.Result status = bench.user
                        .spec(bench.executable.toString(), "status", "--json", "--port", Integer.toString(port))
                        .run(LIMIT);
                assertTrue(status.stdout().contains("\"source\":\"control_socket\""), status.stdout());
            }
        }
    }
}
