package org.nemorelay.carrier.nats.internal;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** As little of S3 as the store uses; a request whose signature or body hash is wrong is refused as Amazon does. */
final class FakeS3 implements AutoCloseable {
    static final String ACCESS = "AKIDEXAMPLE";
    static final String SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
    static final String BUCKET = "localai";

    final Map<String, byte[]> objects = new ConcurrentHashMap<>();
    final List<String> requests = Collections.synchronizedList(new ArrayList<>());
    final AtomicInteger failing = new AtomicInteger();
    private final Map<String, Map<Integer, byte[]>> uploads = new ConcurrentHashMap<>();
    private final HttpServer server;

    FakeS3() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::serve);
        server.start();
    }

    URI endpoint() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    int openUploads() {
        return uploads.size();
    }

    private void serve(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        URI uri = exchange.getRequestURI();
        requests.add(exchange.getRequestMethod() + " " + uri);
        try {
            String wrong = wrong(exchange, body);
            if (!wrong.isEmpty()) {
                answer(exchange, 403, "<Error><Code>" + wrong + "</Code></Error>");
            } else if (failing.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                answer(exchange, 503, "<Error><Code>SlowDown</Code></Error>");
            } else {
                act(exchange, uri, body);
            }
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private void act(HttpExchange exchange, URI uri, byte[] body) throws IOException {
        String key = uri.getPath().substring(("/" + BUCKET + "/").length());
        Map<String, String> query = query(uri);
        String upload = query.get("uploadId");
        switch (exchange.getRequestMethod()
                + (upload != null ? " part" : "")
                + (query.containsKey("uploads") ? " new" : "")) {
            case "POST new" -> {
                String id = "up/" + uploads.size() + "+=";
                uploads.put(id, new TreeMap<>());
                answer(exchange, 200, "<R><UploadId>" + id + "</UploadId></R>");
            }
            case "PUT part" -> {
                uploads.get(upload).put(Integer.valueOf(query.get("partNumber")), body);
                exchange.getResponseHeaders().set("ETag", "\"part" + query.get("partNumber") + "\"");
                answer(exchange, 200, "");
            }
            case "POST part" -> {
                ByteArrayOutputStream whole = new ByteArrayOutputStream();
                String list = new String(body, StandardCharsets.UTF_8);
                for (Map.Entry<Integer, byte[]> part : uploads.remove(upload).entrySet()) {
                    if (!list.contains(
                            "<PartNumber>" + part.getKey() + "</PartNumber><ETag>&quot;part" + part.getKey())) {
                        answer(exchange, 200, "<Error><Code>InvalidPart</Code></Error>");
                        return;
                    }
                    whole.writeBytes(part.getValue());
                }
                objects.put(key, whole.toByteArray());
                answer(exchange, 200, "<CompleteMultipartUploadResult/>");
            }
            case "DELETE part" -> {
                uploads.remove(upload);
                answer(exchange, 204, "");
            }
            case "PUT" -> {
                objects.put(key, body);
                answer(exchange, 200, "");
            }
            case "DELETE" -> {
                objects.remove(key);
                answer(exchange, 204, "");
            }
            default -> {
                byte[] object = objects.get(key);
                if (object == null) {
                    answer(exchange, 404, "<Error><Code>NoSuchKey</Code></Error>");
                } else if (exchange.getRequestMethod().equals("HEAD")) {
                    exchange.getResponseHeaders().set("Content-Length", Integer.toString(object.length));
                    exchange.sendResponseHeaders(200, -1);
                    exchange.close();
                } else {
                    exchange.sendResponseHeaders(200, object.length == 0 ? -1 : object.length);
                    exchange.getResponseBody().write(object);
                    exchange.close();
                }
            }
        }
    }

    private static void answer(HttpExchange exchange, int status, String text) throws IOException {
        byte[] bytes = exchange.getRequestMethod().equals("HEAD") ? new byte[0] : text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    private static Map<String, String> query(URI uri) {
        Map<String, String> query = new TreeMap<>();
        for (String pair :
                uri.getRawQuery() == null ? new String[0] : uri.getRawQuery().split("&")) {
            String[] parts = pair.split("=", 2);
            query.put(parts[0], parts.length < 2 ? "" : java.net.URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
        }
        return query;
    }

    /** The name of the error, or nothing when the request is properly signed. */
    private static String wrong(HttpExchange exchange, byte[] body) throws GeneralSecurityException {
        String hash = header(exchange, "x-amz-content-sha256");
        if (!hash.equals(hex(MessageDigest.getInstance("SHA-256").digest(body)))) {
            return "XAmzContentSHA256Mismatch";
        }
        String authorization = header(exchange, "Authorization");
        String scope = authorization.replaceAll(".*Credential=[^/]*/([^,]*),.*", "$1");
        String signed = authorization.replaceAll(".*SignedHeaders=([^,]*),.*", "$1");
        String headers = Arrays.stream(signed.split(";"))
                .map(name -> name + ":" + header(exchange, name) + "\n")
                .collect(Collectors.joining());
        String query = exchange.getRequestURI().getRawQuery();
        String canonical = String.join(
                "\n",
                exchange.getRequestMethod(),
                exchange.getRequestURI().getRawPath(),
                query == null ? "" : query,
                headers,
                signed,
                hash);
        String text = String.join(
                "\n",
                "AWS4-HMAC-SHA256",
                header(exchange, "x-amz-date"),
                scope,
                hex(MessageDigest.getInstance("SHA-256").digest(canonical.getBytes(StandardCharsets.UTF_8))));
        byte[] key = ("AWS4" + SECRET).getBytes(StandardCharsets.UTF_8);
        for (String part : (scope + "\n" + text).split("/|\n(?=AWS4-HMAC)")) {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            key = mac.doFinal(part.getBytes(StandardCharsets.UTF_8));
            if (part.equals("aws4_request")) {
                mac.init(new SecretKeySpec(key, "HmacSHA256"));
                key = mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
                break;
            }
        }
        return authorization.endsWith("Signature=" + hex(key)) ? "" : "SignatureDoesNotMatch";
    }

    private static String header(HttpExchange exchange, String name) {
        String value = exchange.getRequestHeaders().getFirst(name);
        return value == null ? "" : value;
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
