package org.nemorelay.files;

import java.io.IOException;
import java.net.URLDecoder;
import java.nio.channels.ByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.nemorelay.files.internal.Answer;
import org.nemorelay.files.internal.BearerToken;
import org.nemorelay.files.internal.StoredFiles;
import org.nemorelay.files.internal.Watchdog;
import org.nemorelay.files.internal.Wire;

/**
 * A worker's own HTTP server (distributed-seams 5.2), on connections from anywhere. HTTP/1.1, bodies with a length.
 * {@code /healthz} and {@code /readyz} are open, all else wants the bearer token. Safe for any thread.
 */
public final class FileServer {
    private static final Duration IDLE = Duration.ofSeconds(30);
    private static final Duration STILL = Duration.ofSeconds(60);
    private static final String FILES = "/v1/files/";
    private static final String LIST = "/v1/files-list/";

    private final StoredFiles files;
    private final Optional<BearerToken> token;
    private final BooleanSupplier ready;

    /**
     * @param token empty lets everybody in, which is for connections that nobody else can make
     * @param ready whether the worker's own link is up
     */
    public FileServer(FileAreas areas, String token, BooleanSupplier ready) {
        this.files = new StoredFiles(
                new StoredFiles.Places() {
                    @Override
                    public Path file(String key) throws IOException {
                        return areas.file(key);
                    }

                    @Override
                    public List<String> list(String prefix) throws IOException {
                        return areas.list(prefix);
                    }
                },
                areas.staging());
        this.token = token.isEmpty() ? Optional.empty() : Optional.of(new BearerToken(token));
        this.ready = ready;
    }

    /** Serves requests until the peer leaves or stands still, then closes the connection. */
    public void serve(ByteChannel connection) {
        try (connection;
                Watchdog watchdog = new Watchdog(connection, IDLE)) {
            Wire wire = new Wire(connection, watchdog);
            for (Optional<Wire.Head> head = wire.head(); head.isPresent(); head = wire.head()) {
                watchdog.limit(STILL);
                boolean goOn = answer(wire, head.get(), watchdog);
                if (!goOn) {
                    return;
                }
                watchdog.limit(IDLE);
            }
        } catch (IOException e) {
            // The peer left; a transfer that it wants it begins again.
        }
    }

    private boolean answer(Wire wire, Wire.Head head, Watchdog watchdog) throws IOException {
        if (head.first().size() != 3 || !head.first().get(2).startsWith("HTTP/1.")) {
            Answer.error(400, "this is not HTTP/1.1").send(wire, true, true);
            return false;
        }
        String method = head.first().getFirst();
        String path = head.first().get(1);
        int authority = path.startsWith("http://") ? path.indexOf('/', 7) : 0;
        String target = authority < 0 ? "/" : path.substring(authority);
        Answer answer;
        boolean bodyRead = false;
        try {
            if (method.equals("PUT") && target.startsWith(FILES) && allowed(head)) {
                answer = files.put(decoded(target.substring(FILES.length())), head, wire, watchdog::beat);
                bodyRead = answer.status() < 400;
            } else {
                answer = route(method, target, head, watchdog);
                bodyRead = head.length() == 0;
            }
        } catch (IllegalArgumentException e) {
            answer = Answer.error(400, "the path is not well formed");
        }
        boolean last = !bodyRead || head.header("connection").equalsIgnoreCase("close");
        answer.send(wire, last, !method.equals("HEAD"));
        return !last;
    }

    private Answer route(String method, String target, Wire.Head head, Watchdog watchdog) throws IOException {
        if (target.equals("/healthz")) {
            return Answer.json(200, java.util.Map.of("status", "ok"));
        }
        if (target.equals("/readyz")) {
            return ready.getAsBoolean()
                    ? Answer.json(200, java.util.Map.of("status", "ready"))
                    : Answer.error(503, "the link to the fleet is down");
        }
        if (!allowed(head)) {
            return Answer.error(401, "the registration token is missing or wrong");
        }
        if (method.equals("POST") && target.equals(FILES + "temp")) {
            return files.temp();
        }
        if (method.equals("GET") && target.startsWith(LIST)) {
            return files.list(decoded(target.substring(LIST.length())));
        }
        if (target.startsWith(FILES)) {
            String key = decoded(target.substring(FILES.length()));
            return switch (method) {
                case "GET" -> files.get(key);
                case "HEAD" -> files.describe(key, watchdog::beat);
                case "DELETE" -> files.delete(key);
                default -> Answer.error(405, method + " is not served here");
            };
        }
        return Answer.error(404, "there is nothing at this path");
    }

    private boolean allowed(Wire.Head head) {
        return token.isEmpty() || token.get().matches(head.header("authorization"));
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    }
}
