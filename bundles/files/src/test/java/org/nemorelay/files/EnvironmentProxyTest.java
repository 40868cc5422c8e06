package org.nemorelay.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.channels.ByteChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.UnreachableException;
import org.nemorelay.seams.dial.WorkerDialers;

/** A proxy of the environment never comes between a dialer that routes by node and the node (seed, open item 7). */
class EnvironmentProxyTest {
    private final List<String> dialled = new ArrayList<>();

    private final class Recording implements WorkerDialers, WorkerDialers.Dialer {
        private final boolean direct;

        private Recording(boolean direct) {
            this.direct = direct;
        }

        @Override
        public Dialer dialerFor(String nodeId) {
            return this;
        }

        @Override
        public void forgetNode(String nodeId) {}

        @Override
        public ByteChannel dial(Context context, String address) {
            dialled.add(address);
            throw new UnreachableException("nobody");
        }

        @Override
        public boolean direct() {
            return direct;
        }
    }

    private String dialled(boolean direct, Map<String, String> environment, String address) {
        dialled.clear();
        HttpFileStager stager = new HttpFileStager(
                "t", new Recording(direct), node -> Optional.of(address), "", EnvironmentProxy.of(environment));
        assertThrows(UnreachableException.class, () -> stager.allocRemoteTemp(Context.background(), "n"));
        return dialled.getFirst();
    }

    @Test
    void onlyADirectDialerIsHandedTheProxy() {
        Map<String, String> environment = Map.of("HTTP_PROXY", "http://proxy:3128", "NO_PROXY", "inside.net, 10.1.1.1");
        assertEquals("node.net:50050", dialled(false, environment, "node.net:50050"));
        assertEquals("proxy:3128", dialled(true, environment, "node.net:50050"));
        assertEquals("n.inside.net:1", dialled(true, environment, "n.inside.net:1"));
        assertEquals("10.1.1.1:1", dialled(true, environment, "10.1.1.1:1"));
        assertEquals("127.0.0.1:1", dialled(true, environment, "127.0.0.1:1"));
        assertEquals("node.net:1", dialled(true, Map.of(), "node.net:1"));
    }
}
