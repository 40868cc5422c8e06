package org.nemorelay.it.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Await;
import org.nemorelay.it.Proc;

/**
 * A fault of the program where one handler runs after the other: the consumer closes, the fault is reported once with the
 * delivery's identity, and the role's process ends with a non-zero status for its supervisor. In a role as it ships, beside
 * which a bundle with the fault is installed.
 */
class LimitOfOneTest {
    @TempDir
    Path folder;

    private PrivateTree tree;
    private NatsServer nats;
    private Fleet fleet;
    private Proc node;

    @BeforeEach
    void start() throws Exception {
        nats = new NatsServer();
        tree = PrivateTree.below(folder);
        tree.addCarrier("node", "faulty", FaultyBundle.class, FaultyBundle.Handler.class);
        fleet = new Fleet(folder, nats, tree.program());
        // No frontend: it goes on trying to register.
        node = fleet.lone("node", "[node]\nname = \"one\"\nfrontend = \"http://127.0.0.1:1\"\n");
        Await.until(
                () -> "the faulty bundle serves\n" + node.transcript(),
                Fleet.LIMIT,
                () -> node.stderr().contains("faulty bundle serves")
                        && node.stderr().contains("carrier main: connected"));
    }

    @AfterEach
    void stop() throws Exception {
        fleet.close();
        tree.close();
    }

    private long count(String text) {
        return node.stderr().lines().filter(line -> line.contains(text)).count();
    }

    /** Sends what the faulty handler gets until it has got one, since its subscription may take a moment. */
    private void send(String subject) throws Exception {
        String each = "PUB " + subject + " 3\r\none\r\nPUB " + subject + " 3\r\ntwo\r\n";
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), nats.port())) {
            socket.getOutputStream().write("CONNECT {\"verbose\":false}\r\n".getBytes(StandardCharsets.US_ASCII));
            Await.until(() -> "it is handled\n" + node.transcript(), Fleet.LIMIT, () -> {
                socket.getOutputStream().write(each.getBytes(StandardCharsets.US_ASCII));
                return count("handled") > 0;
            });
        }
    }

    private void endedOnce(String where) {
        assertEquals(1, node.awaitExit(Fleet.LIMIT), node.transcript());
        assertEquals(1, count("handled"), "nothing more was taken\n" + node.transcript());
        List<String> reports =
                node.stderr().lines().filter(line -> line.contains("a bug")).toList();
        assertEquals(1, reports.size(), node.transcript());
        assertTrue(reports.getFirst().contains(where), reports.getFirst());
        assertTrue(reports.getFirst().matches(".* (number|request) \\d+.*"), "the delivery: " + reports.getFirst());
        assertFalse(node.stderr().contains("\tat "), node.transcript());
    }

    @Test
    void aConsumerWithALimitOfOne() throws Exception {
        send("jobs.mcp-ci.new");
        endedOnce("jobs.mcp-ci.new");
    }

    @Test
    void aControlVerb() throws Exception {
        send("nodes." + FaultyBundle.NODE + ".backend.list");
        endedOnce("backend.list");
    }

    @Test
    void aConsumerWithoutALimitGoesOn() throws Exception {
        send("jobs.new");
        Await.until("more are handled", Fleet.LIMIT, () -> count("handled") >= 2);
        Await.until("each is told", Fleet.LIMIT, () -> count("failed on jobs.new") >= 2);
        assertTrue(node.alive(), node.transcript());
    }
}
