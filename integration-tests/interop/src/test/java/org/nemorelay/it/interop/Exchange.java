package org.nemorelay.it.interop;

import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.RawHttp;

/** One request as bytes, and what can be seen of its treatment: the answer, the connection, the provider's side. */
record Exchange(String name, String request) {
    /** A request line and header lines; type and length are added where there is a body. */
    static Exchange of(String line, String body, String... headers) {
        StringBuilder text = new StringBuilder(line + " HTTP/1.1\r\nhost: relay.test\r\n");
        for (String header : headers) {
            text.append(header).append("\r\n");
        }
        if (!body.isEmpty()) {
            text.append("content-type: application/json\r\ncontent-length: " + body.length() + "\r\n");
        }
        String name = line + (headers.length == 0 ? "" : " " + List.of(headers)) + (body.isEmpty() ? "" : " " + body);
        return new Exchange(name, text.append("\r\n").append(body).toString());
    }

    /** The same with one header line more. */
    Exchange with(String header) {
        return new Exchange(name, request.replaceFirst("\r\n", "\r\n" + header + "\r\n"));
    }

    /** The treatment by the daemon at this port, without what differs between any two daemons or moments. */
    String treatment(int port, MockProvider provider) {
        int before = provider.received().size();
        StringBuilder seen = new StringBuilder();
        try (RawHttp http = new RawHttp(port)) {
            http.write(request.getBytes(StandardCharsets.ISO_8859_1));
            RawHttp.Answer answer = http.head();
            while (answer.status() == 100) {
                seen.append("100\n");
                answer = http.head();
            }
            boolean upgraded = answer.status() == 101;
            if (!upgraded && !request.startsWith("HEAD ")) {
                answer = http.body(answer);
            }
            seen.append(answer.status()).append('\n').append(headers(answer));
            seen.append('\n').append(withoutIdentity(answer));
            seen.append(upgraded ? "" : reuse(http));
        }
        provider.received().stream().skip(before).forEach(received -> seen.append(sent(received)));
        return seen.toString();
    }

    private String headers(RawHttp.Answer answer) {
        return answer.headers().stream()
                .map(header -> lower(header) + ": " + value(answer, lower(header), header.getValue()) + "\n")
                .sorted()
                .collect(Collectors.joining());
    }

    private String value(RawHttp.Answer answer, String name, String value) {
        return switch (name) {
            case "date" -> value.matches("\\w{3}, \\d{2} \\w{3} \\d{4} \\d{2}:\\d{2}:\\d{2} GMT") ? "a date" : value;
            case "content-length" ->
                !request.startsWith("HEAD ") && Integer.parseInt(value) == answer.body().length
                        ? "that of the body"
                        : value.equals("0") ? "0" : "some";
            case "connection" -> value.toLowerCase(Locale.ROOT);
            default -> value;
        };
    }

    /** Without what names the daemon, and without the text about a dead provider, which nobody parses. */
    private static String withoutIdentity(RawHttp.Answer answer) {
        String message = answer.status() == 502 ? "\"message\":\"some\"" : "$0";
        return answer.text()
                .replaceAll("\"instance_id\":\"[0-9a-f-]{36}\"", "\"instance_id\":\"a UUID\"")
                .replaceAll("\"version\":\"[^\"]+\"", "\"version\":\"some\"")
                .replaceAll("\"message\":\"[^\"]+\"", message);
    }

    /** Whether the connection serves another request, which also shows that nothing was left over on it. */
    private static String reuse(RawHttp http) {
        try {
            return "\n[open, next " + http.send("GET", "/healthz", "").head().status() + "]\n";
        } catch (UncheckedIOException ended) {
            return "\n[closed]\n";
        }
    }

    private static String sent(MockProvider.Received received) {
        String headers = received.headers().stream()
                .map(header -> "  " + lower(header) + ": " + header.getValue() + "\n")
                .sorted()
                .collect(Collectors.joining());
        return "provider got " + received.method() + " " + received.target() + "\n" + headers + "  "
                + received.bodyText() + "\n";
    }

    private static String lower(Map.Entry<String, String> header) {
        return header.getKey().toLowerCase(Locale.ROOT);
    }
}
