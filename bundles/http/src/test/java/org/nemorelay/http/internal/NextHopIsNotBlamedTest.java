package org.nemorelay.http.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nemorelay.http.Outcome;
import org.nemorelay.http.WireProtocol;

/**
 * Whatever a provider answers or a client asks, the hop in between (a worker) passes on what the next hop (the daemon)
 * understands, or answers itself: it is not taken for broken.
 */
@Timeout(120)
final class NextHopIsNotBlamedTest {
    private static final int HEAD_LIMIT = 256 * 1024;
    private static final String OK = "content-length: 2\r\n\r\nok";

    private static List<String> answers() {
        List<String> answers = new ArrayList<>();
        for (String status : List.of(
                "0",
                "1",
                "99",
                "099",
                "000",
                "100",
                "101",
                "102",
                "103",
                "199",
                "200",
                "204",
                "205",
                "206",
                "299",
                "301",
                "304",
                "407",
                "408",
                "421",
                "426",
                "431",
                "499",
                "500",
                "505",
                "599",
                "600",
                "999",
                "1000",
                "20000",
                "-1",
                "2 0",
                "abc",
                "\u0661\u0660")) {
            answers.add("HTTP/1.1 " + status + " X\r\n" + OK);
            answers.add("HTTP/1.1 " + status + "\r\n" + OK);
        }
        for (String reason :
                List.of("", " ", "a b", "\u0001", "\u00e9\u00ff", "x".repeat(10_000), "a\tb", "a\u0000b")) {
            answers.add("HTTP/1.1 200 " + reason + "\r\n" + OK);
        }
        for (String version :
                List.of("HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "HTTP/1.2", "http/1.1", "ICY", "SSH-2.0", "")) {
            answers.add(version + " 200 OK\r\n" + OK);
        }
        for (String field : List.of(
                "x: \u00e9\u00ff",
                "x: a\u0001b",
                "x: a\u007fb",
                "x: a\u0000b",
                "x:",
                ": x",
                "x y: 1",
                "x : 1",
                " x: 1",
                "x: 1\r\n 2",
                "x: 1\r\n\t2",
                "x\u00e9: 1",
                "x(): 1",
                "@x: 1",
                "x",
                "x: a\rb",
                "x: a\nb: c",
                ":status: 200",
                ":path: /",
                "connection: close",
                "connection: x",
                "connection: a b",
                "connection: \u00e9",
                "upgrade: x",
                "keep-alive: 1",
                "te: x",
                "transfer-encoding: x",
                "transfer-encoding: gzip, chunked",
                "transfer-encoding: chunked",
                "content-length: 2",
                "content-length: 3",
                "content-length: -1",
                "content-length: 99999999999999999999",
                "content-length: 2, 2",
                "trailer: x",
                "trailer: content-length",
                "date: x",
                "date:",
                "server:",
                "host: x",
                "set-cookie: " + "c".repeat(5_000),
                "content-encoding: gzip",
                "content-type: \u0001",
                "expect: 100-continue",
                "proxy-authenticate: x",
                "x-nemo-relay-worker-token: x",
                "x-nemo-relay-client-token: x",
                "http2-settings: x",
                "proxy-connection: x",
                "via: 1.1 \u00e9")) {
            answers.add("HTTP/1.1 200 OK\r\n" + field + "\r\n" + OK);
            answers.add("HTTP/1.1 103 Early\r\n" + field + "\r\n\r\nHTTP/1.1 200 OK\r\n" + OK);
            answers.add("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n" + field + "\r\n\r\n");
        }
        for (String chunks : List.of(
                "x\r\n",
                "2\r\nokk",
                "-1\r\n",
                "2;x=\u0001\r\nok\r\n0\r\n\r\n",
                "2\nok\n0\n\n",
                "fffffffffffffffff\r\n",
                "0\r\n",
                "\r\n",
                "2\r\nok\r\n0\r\nhalf a trai")) {
            answers.add("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + chunks);
        }
        for (int size : List.of(1_000, 15_000, 17_000, 33_000, 65_000, 66_000, 130_000)) {
            answers.add("HTTP/1.1 200 OK\r\nx: " + "a".repeat(size) + "\r\n" + OK);
            answers.add("HTTP/1.1 103 Early\r\nx: " + "a".repeat(size) + "\r\n\r\nHTTP/1.1 200 OK\r\n" + OK);
        }
        for (int from = HEAD_LIMIT - 220; from < HEAD_LIMIT + 30; from += 10) {
            String head = "HTTP/1.1 200 OK\r\n" + OK;
            answers.add("HTTP/1.1 200 OK\r\nx: " + "a".repeat(from - head.length() - 3) + "\r\n" + OK);
        }
        for (int count : List.of(50, 500, 5_000, 12_000, 20_000, 30_000, 40_000)) {
            answers.add("HTTP/1.1 200 OK\r\n" + "a: b\r\n".repeat(count) + OK);
        }
        answers.add("HTTP/1.1 103 Early\r\na: b\r\n\r\n".repeat(2_000) + "HTTP/1.1 200 OK\r\n" + OK);
        answers.add("HTTP/1.1 204 No\r\n\r\n");
        answers.add("HTTP/1.1 304 Not\r\ncontent-length: 5\r\n\r\n");
        answers.add("HTTP/1.1 200 OK\r\n\r\nto the end");
        answers.add("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\ntoo much");
        answers.add("HTTP/1.1 200 OK\n" + OK);
        answers.add("\r\n\r\nHTTP/1.1 200 OK\r\n" + OK);
        Random random = new Random(4);
        String whole = "HTTP/1.1 200 OK\r\nx-a: some value\r\nset-cookie: a=b; c\r\ntransfer-encoding: chunked\r\n\r\n"
                + "2\r\nok\r\n0\r\nx-t: 1\r\n\r\n";
        for (int i = 0; i < 60; i++) {
            StringBuilder text = new StringBuilder(whole);
            for (int n = random.nextInt(3); n >= 0; n--) {
                int at = random.nextInt(text.length());
                switch (random.nextInt(3)) {
                    case 0 -> text.setCharAt(at, (char) random.nextInt(256));
                    case 1 -> text.insert(at, (char) random.nextInt(256));
                    default -> text.deleteCharAt(at);
                }
            }
            answers.add(text.toString());
        }
        return answers;
    }

    @ParameterizedTest
    @EnumSource
    void whateverTheProviderAnswers(WireProtocol between) throws Exception {
        AtomicReference<String> answer = new AtomicReference<>("");
        List<String> blamed = new ArrayList<>();
        try (RawProvider provider = new RawProvider(exchange -> {
                    String head = exchange.head();
                    if (head != null) {
                        exchange.body(head);
                        exchange.send(answer.get());
                    }
                });
                Relay inner = new Relay(provider.origin());
                Relay outer = inner.behind(between)) {
            for (String one : answers()) {
                answer.set(one);
                ask(outer, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", one, blamed);
            }
        }
        assertEquals(List.of(), blamed);
    }

    @ParameterizedTest
    @EnumSource
    void whateverTheClientAsks(WireProtocol between) throws Exception {
        List<String> blamed = new ArrayList<>();
        try (RawProvider provider = new RawProvider(exchange -> {
                    exchange.head();
                    exchange.send("HTTP/1.1 200 OK\r\n" + OK);
                });
                Relay inner = new Relay(provider.origin());
                Relay outer = inner.behind(between)) {
            for (int size = HEAD_LIMIT - 300; size < HEAD_LIMIT + 30; size += 10) {
                ask(outer, "GET / HTTP/1.1\r\nHost: x\r\nx: " + "a".repeat(size - 53) + "\r\n\r\n", "", blamed);
            }
            for (int count : List.of(50, 500, 5_000, 12_000, 20_000, 30_000, 40_000)) {
                ask(outer, "GET / HTTP/1.1\r\nHost: x\r\n" + "a: b\r\n".repeat(count) + "\r\n", "", blamed);
            }
            for (int size : List.of(1_000, 15_000, 17_000, 65_000, 130_000, 262_000)) {
                ask(outer, "GET /" + "a".repeat(size) + " HTTP/1.1\r\nHost: x\r\n\r\n", "", blamed);
                ask(outer, "M".repeat(size) + " / HTTP/1.1\r\nHost: x\r\n\r\n", "", blamed);
            }
            for (String target : List.of(
                    "/\u0001",
                    "/\u00e9",
                    "/a b",
                    "/%",
                    "/%zz",
                    "/..",
                    "/a/../b",
                    "//",
                    "/;x",
                    "/?\u00e9",
                    "*",
                    "x",
                    "/#a",
                    "/a\\b",
                    "/\"",
                    "/a|b",
                    "/<>",
                    "/%00")) {
                ask(outer, "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n", "", blamed);
            }
            for (String field : List.of(
                    "x: \u00e9",
                    "x: a\u0001b",
                    "x(): 1",
                    "x\u00e9: 1",
                    ":path: /",
                    "x:",
                    "x: 1\r\n 2",
                    "connection: x",
                    "te: gzip",
                    "expect: x",
                    "trailer: x",
                    "upgrade-insecure-requests: 1",
                    "content-encoding: zstd",
                    "host: y",
                    "cookie: a=b; c=d",
                    "content-type: \u00e9",
                    "http2-settings: x")) {
                ask(outer, "GET / HTTP/1.1\r\nHost: x\r\n" + field + "\r\n\r\n", "", blamed);
            }
            for (String method : List.of("get", "TRACE", "M-SEARCH", "A", "PRI", "OPTIONS", "HEAD", "DELETE")) {
                ask(outer, method + " / HTTP/1.1\r\nHost: x\r\n\r\n", "", blamed);
            }
        }
        assertEquals(List.of(), blamed);
    }

    private static void ask(Relay outer, String request, String answer, List<String> blamed) throws IOException {
        int before = outer.outcomes.size();
        String got;
        try (RawClient client = new RawClient(outer.port())) {
            client.socket.setSoTimeout(30_000);
            client.send(request.replaceFirst("Host: x", "Host: x\r\nConnection: close"));
            got = new String(client.in.readAllBytes(), StandardCharsets.ISO_8859_1);
        } catch (SocketTimeoutException e) {
            blamed.add("no end of " + brief(request) + " / " + brief(answer) + "\n");
            return;
        } catch (IOException e) {
            got = "";
        }
        outer.ended(outer.begun.get());
        if (outer.outcomes.size() > before) {
            Outcome outcome = outer.outcomes.getLast();
            if (outcome instanceof Outcome.BadHead
                    || outcome instanceof Outcome.NoResponse
                    || outcome instanceof Outcome.ConnectFailed) {
                blamed.add(brief(request) + " / " + brief(answer) + ": " + outcome + " " + brief(got) + "\n");
            }
        }
    }

    private static String brief(String text) {
        String shown = text.length() < 90 ? text : text.substring(0, 60) + "... (" + text.length() + ")";
        return shown.replace("\r", "\\r").replace("\n", "\\n");
    }
}
