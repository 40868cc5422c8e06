package org.nemorelay.fleet;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/** A frontend that answers what the test says, and remembers what it was asked. */
final class FakeFrontend implements AutoCloseable {
    record Asked(String path, JsonObject body, String authorization) {}

    record Said(int status, String body) {}

    private final HttpServer server;
    private final List<Asked> asked = new CopyOnWriteArrayList<>();

    FakeFrontend(Function<String, Said> answers) {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.createContext("/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            asked.add(new Asked(
                    path,
                    Json.parseObject(exchange.getRequestBody().readAllBytes()),
                    String.valueOf(exchange.getRequestHeaders().getFirst("Authorization"))));
            Said said = answers.apply(path);
            byte[] body = said.body().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(said.status(), body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    List<Asked> asked(String path) {
        return asked.stream().filter(one -> one.path().equals(path)).toList();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
