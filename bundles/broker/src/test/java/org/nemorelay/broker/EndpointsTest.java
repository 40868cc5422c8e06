package org.nemorelay.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.protocol.LaunchGrant;

class EndpointsTest {
    @ParameterizedTest(name = "case45 {0} root={1} -> {2}")
    @CsvSource({
        "http://127.0.0.1:4000, false, true",
        "http://127.0.0.1:80, false, true",
        "http://127.0.0.1:4000, true, false",
        "http://127.0.0.1, false, false",
        "http://127.0.0.1:0, false, false",
        "http://127.0.0.1:65536, false, false",
        "http://127.0.0.1:4000/, false, false",
        "http://127.0.0.1:4000/path, false, false",
        "http://127.0.0.1:4000?q, false, false",
        "http://user@127.0.0.1:4000, false, false",
        "http://0.0.0.0:4000, false, false",
        "https://0.0.0.0:4000, true, false",
        "http://remote.example:4000, false, false",
        "https://remote.example:4000, false, false",
        "https://remote.example:4000, true, true",
        "ftp://127.0.0.1:4000, false, false",
        "127.0.0.1:4000, false, false",
    })
    void case45Form(String endpoint, boolean root, boolean valid) {
        assertEquals(valid, Endpoints.parse(endpoint, root).isPresent());
    }

    @Test
    void case45AGrantFixesHostSchemeAndPort() {
        LaunchGrant local = new LaunchGrant("a", "t", -1, "127.0.0.1", 4_000, Optional.empty());
        LaunchGrant remote = new LaunchGrant("a", "t", -1, "0.0.0.0", 0, Optional.of("client.example"));
        assertEquals(true, allowed(local, "http://127.0.0.1:4000", false));
        assertEquals(false, allowed(local, "http://127.0.0.1:4001", false));
        assertEquals(false, allowed(local, "https://127.0.0.1:4000", true));
        assertEquals(true, allowed(remote, "https://client.example:443", true));
        assertEquals(false, allowed(remote, "https://other.example:443", true));
        assertEquals(false, allowed(remote, "http://127.0.0.1:443", false));
    }

    private static boolean allowed(LaunchGrant grant, String endpoint, boolean root) {
        Optional<String> certificate = root ? Optional.of("cm9vdA") : Optional.empty();
        return Endpoints.allowed(grant, new WorkerRegistration(Scene.user("ann"), "w", endpoint, certificate, true));
    }
}
