package org.nemorelay.node.internal;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.files.FileAreas;
import org.nemorelay.files.FileServer;

/** 0.0.0.0 is every address of IPv4, and none of IPv6: a firewall for the one covers it. */
@Timeout(60)
class FileListenerTest {
    @TempDir
    Path folder;

    @Test
    void allAddressesOfIpv4AreNoneOfIpv6() throws IOException {
        FileServer files = new FileServer(FileAreas.below(folder), "token", () -> true);
        try (FileListener listener = FileListener.open("0.0.0.0", 0, files);
                Socket overIpv4 = new Socket("127.0.0.1", listener.port());
                Socket overIpv6 = new Socket()) {
            assertTrue(overIpv4.isConnected());
            InetSocketAddress address = new InetSocketAddress("::1", listener.port());
            assertThrows(SocketException.class, () -> overIpv6.connect(address));
        }
    }
}
