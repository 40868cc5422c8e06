package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.RelayException;

class TrustedProxiesTest {
    private final TrustedProxies proxies = TrustedProxies.parse("192.0.2.1, 10.0.0.0/8,2001:db8::/32");

    @Test
    void onlyATrustedProxysWordCounts() {
        assertEquals("198.51.100.7", client("192.0.2.1", "198.51.100.7"));
        assertEquals("198.51.100.7", client("10.1.2.3", "198.51.100.7"));
        assertEquals("198.51.100.7", client("2001:db8::5", "198.51.100.7"));
        assertEquals("192.0.2.2", client("192.0.2.2", "198.51.100.7"), "a stranger's word");
        assertEquals("127.0.0.1", client("127.0.0.1", "198.51.100.7"), "loopback is not trusted unless it is named");
        assertEquals("192.0.2.1", client("192.0.2.1"), "without the header the proxy itself");
    }

    @Test
    void theNearestAddressThatIsNoProxyIsTheClient() {
        assertEquals("198.51.100.7", client("192.0.2.1", "203.0.113.9, 198.51.100.7, 10.0.0.4"));
        assertEquals(
                "198.51.100.7", client("192.0.2.1", "203.0.113.9", "198.51.100.7"), "the last header is the nearest");
        assertEquals("198.51.100.7", client("192.0.2.1", "198.51.100.7:4711"));
        assertEquals("2001:db9:0:0:0:0:0:1", client("192.0.2.1", "[2001:db9::1]:4711"));
        assertEquals("192.0.2.1", client("192.0.2.1", "unknown"), "no address: nobody behind it is known");
        assertEquals("10.0.0.4", client("192.0.2.1", "nonsense, 10.0.0.4"));
    }

    @Test
    void textThatIsNoNetworkIsNamed() {
        for (String wrong : new String[] {"proxy.example", "10.0.0.0/33", "10.0.0.0/x"}) {
            RelayException refused =
                    assertThrows(RelayException.class, () -> TrustedProxies.parse("192.0.2.1," + wrong));
            assertTrue(refused.getMessage().contains("\"" + wrong + "\""), refused.getMessage());
        }
    }

    private String client(String connected, String... forwarded) {
        HttpFields.Mutable headers = HttpFields.build();
        for (String value : forwarded) {
            headers.add("X-Forwarded-For", value);
        }
        return proxies.client(InetAddress.ofLiteral(connected), headers).getHostAddress();
    }
}
