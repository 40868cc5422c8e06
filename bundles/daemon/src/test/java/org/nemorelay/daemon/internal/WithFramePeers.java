package org.nemorelay.daemon.internal;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.nemorelay.protocol.control.SigningKey;

/** A daemon, what its workers name as their endpoint, and peers of its control sockets that end with the test. */
abstract class WithFramePeers {
    private final List<FramePeer> peers = new ArrayList<>();
    TestDaemon daemon;
    FakeServer data;

    @BeforeEach
    void start() throws IOException {
        data = new FakeServer("worker");
        daemon = new TestDaemon().start();
    }

    @AfterEach
    void stop() throws IOException {
        peers.forEach(FramePeer::close);
        daemon.close();
        data.close();
    }

    FramePeer kept(FramePeer peer) {
        peers.add(peer);
        return peer;
    }

    FramePeer mcp() throws IOException {
        return kept(FramePeer.mcp(daemon));
    }

    FramePeer mcp(SigningKey key) throws IOException {
        return kept(new FramePeer(daemon, false, key, "127.0.0.1"));
    }

    FramePeer worker(SigningKey key) throws IOException {
        return kept(FramePeer.worker(daemon, key));
    }

    /** A worker that has registered with the grant of this session, and is not ready. */
    FramePeer staged(FramePeer session) throws IOException {
        return worker(session.key).registered(data.url(), session.launch.orElseThrow());
    }
}
