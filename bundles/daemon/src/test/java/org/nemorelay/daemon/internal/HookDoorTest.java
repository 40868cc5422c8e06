package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.identity.StateFolder;
import org.nemorelay.protocol.ListenerProof;
import org.nemorelay.protocol.RouteToken;

/** How a hook comes to know the daemon: the proof on a plain connection, and the TLS tunnel. */
@Timeout(60)
class HookDoorTest {
    private static final String TUNNEL = "/bootstrap/tunnel";

    private TestDaemon daemon;
    private TestDaemon.User ann;

    @BeforeEach
    void start() throws IOException {
        daemon = new TestDaemon().start();
        ann = daemon.user("ann");
    }

    @AfterEach
    void stop() throws IOException {
        daemon.close();
    }

    private static byte[] nonce() {
        byte[] nonce = new byte[ListenerProof.NONCE_LENGTH];
        nonce[0] = 1;
        return nonce;
    }

    private static String question(RouteToken token) {
        return RawHttp.get(
                ListenerProof.PATH,
                ListenerProof.NONCE_HEADER + ": " + ListenerProof.text(nonce()),
                ListenerProof.TOKEN_HEADER + ": " + ListenerProof.text(ListenerProof.tokenDigest(token.text())));
    }

    private boolean proves(RawHttp.Answer answer, RouteToken token) throws IOException {
        assertEquals(200, answer.status());
        assertEquals("application/octet-stream", answer.header("content-type"));
        return ListenerProof.proves(
                answer.body().getBytes(StandardCharsets.ISO_8859_1),
                token.text(),
                nonce(),
                ListenerProof.origin(InetAddress.getByName("127.0.0.1"), daemon.port()));
    }

    @Test
    void theTokenOfARegistrationIsProvenOnAConnectionThatGoesOn() throws Exception {
        assertEquals(403, RawHttp.once(daemon.port(), question(ann.token)).status());
        try (TestDaemon.Mcp mcp = ann.mcp();
                RawHttp http = new RawHttp(daemon.port())) {
            RawHttp.Answer first = http.exchange(question(ann.token));
            assertTrue(proves(first, ann.token));
            RawHttp.Answer second = http.exchange(question(ann.token));
            assertTrue(proves(second, ann.token));
            assertFalse(first.body().equals(second.body()), "the daemon adds a nonce of its own");
            assertEquals(
                    "{\"continue\":true}",
                    http.exchange(RawHttp.post("/hooks/claude-code", "{}", ann.header()))
                            .body());
            assertEquals(403, http.exchange(question(daemon.user("bob").token)).status());
            mcp.release();
            assertTrue(proves(http.exchange(question(ann.token)), ann.token), "a session's last hooks come after it");
        }
    }

    @Test
    void anUnprovenRegistrationIsNotKnown() throws Exception {
        daemon.close();
        daemon = new TestDaemon().with("max_tokens_per_identity", 1).start();
        ann = daemon.user("ann");
        RouteToken second = RouteToken.parse(daemon.ids.secret().text()).orElseThrow();
        try (TestDaemon.Mcp _ = ann.mcp()) {
            org.junit.jupiter.api.Assertions.assertThrows(
                    org.nemorelay.protocol.RelayException.class, () -> daemon.new Mcp(ann, second, daemon.ids.uuid7()));
            assertEquals(403, RawHttp.once(daemon.port(), question(second)).status());
        }
    }

    @Test
    void whatIsNoQuestionIsRefused() throws IOException {
        assertEquals(
                400,
                RawHttp.once(daemon.port(), RawHttp.get(ListenerProof.PATH)).status());
        assertEquals(
                400,
                RawHttp.once(
                                daemon.port(),
                                RawHttp.get(
                                        ListenerProof.PATH,
                                        ListenerProof.NONCE_HEADER + ": AAAA",
                                        ListenerProof.TOKEN_HEADER + ": AAAA"))
                        .status());
        assertEquals(
                405,
                RawHttp.once(daemon.port(), RawHttp.post(ListenerProof.PATH, "{}"))
                        .status());
    }

    @Test
    void theTunnelAnswersAsTheReferenceDaemonDoes() throws IOException {
        String[] full = {
            "X-NeMo-Relay-Bootstrap-Fingerprint: daemon",
            "X-NeMo-Relay-Bootstrap-Nonce: " + "ab".repeat(32),
            "Connection: upgrade",
            "Upgrade: nemo-relay-tls"
        };
        for (String request : List.of(
                RawHttp.get(TUNNEL, full), RawHttp.get(TUNNEL, "Connection: upgrade", "Upgrade: nemo-relay-tls"))) {
            RawHttp.Answer answer = RawHttp.once(daemon.port(), request);
            assertEquals(101, answer.status());
            assertEquals("upgrade", answer.header("connection"));
            assertEquals("nemo-relay-tls", answer.header("upgrade"));
            assertEquals(Set.of("connection", "upgrade", "date"), Set.copyOf(answer.names()));
        }
        for (String request : List.of(
                RawHttp.get(TUNNEL),
                RawHttp.get(TUNNEL, "connection: upgrade", "upgrade: websocket"),
                RawHttp.get(TUNNEL, "connection: upgrade", "upgrade: websocket, nemo-relay-tls"))) {
            RawHttp.Answer refused = RawHttp.once(daemon.port(), request);
            assertEquals(403, refused.status());
            assertEquals(Set.of("content-length", "date"), Set.copyOf(refused.names()));
        }
        RawHttp.Answer method = RawHttp.once(daemon.port(), RawHttp.post(TUNNEL, "", full));
        assertEquals(405, method.status());
        assertEquals(Set.of("allow", "content-length", "date"), Set.copyOf(method.names()));
        assertEquals("GET,HEAD", method.header("allow"));
        assertEquals(
                404,
                RawHttp.once(daemon.port(), RawHttp.get(TUNNEL + "/", full)).status());
    }

    @Test
    void insideTheTunnelTheSameRequestsAreServed() throws Exception {
        try (SSLSocket tls = tunnel("TLSv1.3")) {
            assertArrayEquals(
                    state().hookTlsIdentity().certificate(),
                    tls.getSession().getPeerCertificates()[0].getEncoded());
            byte[] body = ("{\"hook_event_name\":\"" + "x".repeat(1 << 20) + "\"}").getBytes(StandardCharsets.UTF_8);
            tls.getOutputStream()
                    .write((RawHttp.get("/healthz")
                                    + RawHttp.head("POST", "/hooks/claude-code", ann.header(), "connection: close")
                                    + "content-length: " + body.length + "\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            tls.getOutputStream().write(body);
            String answers = new String(tls.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            assertTrue(answers.contains("\"service\":\"nemo-relay-daemon\""), answers);
            assertTrue(answers.endsWith("\r\n\r\n{\"continue\":true}"), answers);
        }
    }

    @Test
    void theTunnelIsNoOlderTls() throws Exception {
        org.junit.jupiter.api.Assertions.assertThrows(
                SSLHandshakeException.class, () -> tunnel("TLSv1.2").close());
    }

    @Test
    void theIdentityIsMadeAtTheStartAndKept() throws Exception {
        Path file = daemon.folder.resolve("service/nemo-relay/bootstrap/hook-tls-identity.json");
        TestDaemon.await("the identity is made", () -> Files.exists(file));
        byte[] first = state().hookTlsIdentity().certificate();
        daemon.restart();
        assertArrayEquals(first, state().hookTlsIdentity().certificate());
        try (SSLSocket tls = tunnel("TLSv1.3")) {
            assertArrayEquals(first, tls.getSession().getPeerCertificates()[0].getEncoded());
        }
        assertEquals(Set.of(), Set.copyOf(daemon.failures));
    }

    @Test
    void aBrokenIdentityStopsTheStart() throws Exception {
        Path file = daemon.folder.resolve("service/nemo-relay/bootstrap/hook-tls-identity.json");
        TestDaemon.await("the identity is made", () -> Files.exists(file));
        daemon.stop();
        Files.writeString(file, "{");
        daemon.start();
        assertTrue(
                daemon.failures.getFirst().getMessage().startsWith(file + " does not hold a hook TLS identity"),
                daemon.failures.toString());
    }

    private StateFolder state() {
        return StateFolder.at(daemon.folder.resolve("service/nemo-relay"));
    }

    private SSLSocket tunnel(String protocol) throws Exception {
        Socket socket = new Socket("127.0.0.1", daemon.port());
        socket.setSoTimeout(20_000);
        socket.getOutputStream()
                .write(RawHttp.get(TUNNEL, "connection: upgrade", "upgrade: nemo-relay-tls")
                        .getBytes(StandardCharsets.US_ASCII));
        InputStream in = socket.getInputStream();
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            head.append((char) in.read());
        }
        assertTrue(head.toString().startsWith("HTTP/1.1 101 Switching Protocols\r\n"), head.toString());
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry(
                "daemon", state().hookTlsIdentity().keyStore().getCertificate("hook"));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        SSLSocket tls = (SSLSocket) context.getSocketFactory().createSocket(socket, "localhost", 1, true);
        SSLParameters parameters = tls.getSSLParameters();
        parameters.setProtocols(new String[] {protocol});
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        tls.setSSLParameters(parameters);
        tls.startHandshake();
        return tls;
    }
}
