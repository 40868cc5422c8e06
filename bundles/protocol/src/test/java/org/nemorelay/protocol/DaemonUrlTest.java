package org.nemorelay.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DaemonUrlTest {
    @ParameterizedTest
    @CsvSource({
        "http://localhost:47632/, http://localhost:47632, http://localhost:47632",
        "http://127.0.0.1:80, http://127.0.0.1:80, http://127.0.0.1",
        "https://relay.example.com:443/, https://relay.example.com:443, https://relay.example.com",
        "HTTPS://Relay.Example.com:8443, https://relay.example.com:8443, https://relay.example.com:8443",
        "http://LOCALHOST:1/, http://localhost:1, http://localhost:1",
        "https://10.0.0.1.:1, https://10.0.0.1:1, https://10.0.0.1:1",
        "https://1.example:00443, https://1.example:443, https://1.example",
        "http://[::1]:1, http://[::1]:1, http://[::1]:1",
        "http://[0:0:0:0:0:0:0:1]:80, http://[::1]:80, http://[::1]",
        "https://[2001:DB8::0:1]:47632, https://[2001:db8::1]:47632, https://[2001:db8::1]:47632",
        "http://127.1:1, http://127.0.0.1:1, http://127.0.0.1:1",
        "http://0x7f.0.0.1:1, http://127.0.0.1:1, http://127.0.0.1:1",
    })
    void case64AcceptedWithBothSpellings(String text, String argument, String origin) {
        DaemonUrl url = DaemonUrl.parse(text);
        assertEquals(argument, url.argument());
        assertEquals(origin, url.origin());
    }

    @ParameterizedTest
    @CsvSource({
        "'', absolute",
        "http://, absolute",
        "http://:80, absolute",
        "nope, http or https",
        "ftp://a:1, http or https",
        "http://localhost, explicit port",
        "http://localhost:, explicit port",
        "http://localhost:99999, a number from 1 to 65535",
        "http://localhost:99999999999, a number from 1 to 65535",
        "http://localhost:-1, a number from 1 to 65535",
        "http://localhost:+1, a number from 1 to 65535",
        "http://localhost:0, a number from 1 to 65535",
        "https://256.1.1.1:1, no IPv4 address",
        "https://1.2.3.4.5:1, no IPv4 address",
        "https://relay.1:1, no IPv4 address",
        "https://relay.0x1:1, no IPv4 address",
        "https://08.0.0.1:1, no IPv4 address",
        "https://[::ffff:10.0.0.1]:1, write it as IPv4",
        "http://[::1], explicit port",
        "http://user@localhost:1, credentials",
        "http://u:p@localhost:1, credentials",
        "http://localhost:1/path, non-root path",
        "http://localhost:1?q, query",
        "http://localhost:1/#f, fragment",
        "https://0.0.0.0:443, bind address",
        "https://[::]:47632, bind address",
        "http://[::]:1, bind address",
        "http://relay.example:80, must use https",
        "http://[2001:db8::1]:47632, must use https",
        "http://127.example.com:1, must use https",
        "http://10.0.0.1:1, must use https",
        "https://a b:1, absolute",
    })
    void refusedWithTheRule(String text, String rule) {
        RelayException failure = assertThrows(RelayException.class, () -> DaemonUrl.parse(text));
        assertEquals(FailureKind.INVALID_ARGUMENT, failure.kind());
        assertEquals(true, failure.getMessage().contains(rule), failure.getMessage());
    }
}
