package org.nemorelay.files;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.nemorelay.files.internal.Hashes;
import org.nemorelay.files.internal.NodeClient;
import org.nemorelay.files.internal.NodeClient.Broken;
import org.nemorelay.files.internal.Wire;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.NoDialerException;
import org.nemorelay.seams.NotServedException;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.StagingException;
import org.nemorelay.seams.UnreachableException;
import org.nemorelay.seams.dial.NodeAddresses;
import org.nemorelay.seams.dial.WorkerDialers;
import org.nemorelay.seams.staging.FileStager;
import org.nemorelay.seams.staging.TransferProgress;

/**
 * Moves files over a node's own HTTP server (distributed-seams 5.1, 5.3). Connection failures are ordinary errors. A
 * transfer that broke goes on where it stopped; it is given up after three attempts that moved nothing, or when the
 * context, or an hour, is over. Keeps one client for each node until {@link #forgetNode}. Safe for any thread.
 */
public final class HttpFileStager implements FileStager {
    private static final Duration LONGEST = Duration.ofHours(1);
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);
    private static final int VAIN_ATTEMPTS = 3;
    private static final int CHUNK = 256 * 1024;
    /** A worker reads what it got once more, to check it. */
    private static final long CHECKED_BYTES_PER_SECOND = 50_000_000;

    private final String carrier;
    private final WorkerDialers dialers;
    private final NodeAddresses addresses;
    private final String token;
    private final Optional<EnvironmentProxy> proxy;
    private final Duration firstPause;
    private final Map<String, NodeClient> clients = new ConcurrentHashMap<>();

    /**
     * @param carrier its name, for errors
     * @param token sent as bearer; empty for none
     * @param proxy used by direct dialers alone
     */
    public HttpFileStager(
            String carrier,
            WorkerDialers dialers,
            NodeAddresses addresses,
            String token,
            Optional<EnvironmentProxy> proxy) {
        this(carrier, dialers, addresses, token, proxy, FIRST_PAUSE);
    }

    HttpFileStager(
            String carrier,
            WorkerDialers dialers,
            NodeAddresses addresses,
            String token,
            Optional<EnvironmentProxy> proxy,
            Duration firstPause) {
        this.carrier = carrier;
        this.dialers = dialers;
        this.addresses = addresses;
        this.token = token;
        this.proxy = proxy;
        this.firstPause = firstPause;
    }

    private record Answered(int status, Wire.Head head, String body) {}

    private record Target(NodeClient client, String dialled, String prefix, String host) {
        String url(String path) {
            return prefix + path;
        }
    }

    /** The way to a node; an ordinary error when there is none, never no route. */
    private Target target(String nodeId) {
        String address = addresses
                .serverAddress(nodeId)
                .orElseThrow(() ->
                        new NoDialerException("no dialer for node " + nodeId + ": it has reported no HTTP address"));
        NodeClient client = clients.computeIfAbsent(nodeId, node -> new NodeClient(node, dialers.dialerFor(node)));
        Optional<EnvironmentProxy> through =
                client.direct() ? proxy.filter(p -> p.appliesTo(address)) : Optional.empty();
        return through.map(p -> new Target(client, p.address(), "http://" + address, address))
                .orElse(new Target(client, address, "", address));
    }

    /** Closes the node's client. One that comes back is dialled anew. */
    public void forgetNode(String nodeId) {
        NodeClient client = clients.remove(nodeId);
        if (client != null) {
            client.close();
        }
    }

    /** How many nodes have a client. */
    public int clientCount() {
        return clients.size();
    }

    /** Closes every client. */
    public void close() {
        List.copyOf(clients.keySet()).forEach(this::forgetNode);
    }

    @Override
    public String ensureRemote(Context context, String nodeId, Path local, String key, TransferProgress progress) {
        Context bounded = context.withTimeout(LONGEST);
        String path = "/v1/files/" + encoded(key);
        long total;
        String hash;
        try {
            total = Files.size(local);
            hash = Hashes.of(local, () -> bounded.check("hashing " + local));
        } catch (IOException e) {
            throw new StagingException("cannot read " + local + ": " + e.getMessage());
        }
        long best = -1;
        int vain = 0;
        Duration pause = firstPause;
        while (true) {
            String why;
            try {
                Answered there = ask(bounded, nodeId, "HEAD", path);
                if (there.status() == 200
                        && there.head().header("x-content-sha256").equals(hash)) {
                    return there.head().header("x-local-path");
                }
                long offset = there.status() == 200
                                && there.head().header("x-target-sha256").equals(hash)
                        ? Math.min(there.head().number("x-file-size", 0), total)
                        : 0;
                if (offset > best) {
                    best = offset;
                    vain = 0;
                    pause = firstPause;
                }
                Answered done = put(bounded, nodeId, path, local, offset, total, hash, progress);
                if (done.status() == 200) {
                    return path(done, nodeId);
                }
                if (done.status() != 308 && done.status() != 416) {
                    throw refused(nodeId, "PUT " + key, done);
                }
                why = "it answered " + done.status();
            } catch (Broken | UnreachableException | IOException e) {
                why = e.getMessage();
            }
            if (++vain >= VAIN_ATTEMPTS) {
                throw new UnreachableException("cannot move " + local + " to node " + nodeId + ": " + why);
            }
            pause(bounded, pause);
            pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0 ? pause.multipliedBy(2) : LONGEST_PAUSE;
        }
    }

    private static void pause(Context context, Duration pause) {
        long end = System.nanoTime() + pause.toNanos();
        while (System.nanoTime() - end < 0) {
            context.check("waiting to go on with a transfer");
            LockSupport.parkNanos(Math.min(50_000_000, Math.max(1, end - System.nanoTime())));
        }
    }

    private Answered put(
            Context context,
            String nodeId,
            String path,
            Path local,
            long offset,
            long total,
            String hash,
            TransferProgress progress)
            throws Broken {
        String range = total == 0 ? "" : "Content-Range: bytes " + offset + "-" + (total - 1) + "/" + total + "\r\n";
        String headers = range + "X-Content-SHA256: " + hash + "\r\nContent-Length: " + (total - offset) + "\r\n"
                + (total > offset ? "Expect: 100-continue\r\n" : "");
        Target target = target(nodeId);
        return target.client().run(context, target.dialled(), (wire, watchdog) -> {
            wire.write(request(target, "PUT", path, headers));
            if (total > offset) {
                // A refusal comes before the body is sent, or the end of the connection would overtake it.
                Wire.Head first = NodeClient.head(wire);
                if (!first.first().get(1).startsWith("1")) {
                    wire.ended();
                    return new Answered(Integer.parseInt(first.first().get(1)), first, wire.text(first.length()));
                }
            }
            try (FileChannel in = FileChannel.open(local, StandardOpenOption.READ)) {
                ByteBuffer buffer = ByteBuffer.allocate(CHUNK);
                long sent = offset;
                in.position(offset);
                while (sent < total) {
                    buffer.clear().limit((int) Math.min(CHUNK, total - sent));
                    int count = in.read(buffer);
                    if (count < 0) {
                        throw new StagingException(local + " became shorter while it was sent");
                    }
                    wire.write(buffer.flip());
                    sent += count;
                    progress.moved(local.getFileName().toString(), sent, total);
                }
            }
            watchdog.limit(Duration.ofSeconds(60 + total / CHECKED_BYTES_PER_SECOND));
            return answered(wire, true);
        });
    }

    private String request(Target target, String method, String path, String headers) {
        return method + " " + target.url(path) + " HTTP/1.1\r\nHost: " + target.host() + "\r\n"
                + (token.isEmpty() ? "" : "Authorization: Bearer " + token + "\r\n") + headers + "\r\n";
    }

    private static Answered answered(Wire wire, boolean withBody) throws IOException {
        Wire.Head head = NodeClient.answer(wire);
        String body = withBody ? wire.text(head.length()) : "";
        if (head.header("connection").equalsIgnoreCase("close")) {
            wire.ended();
        }
        return new Answered(Integer.parseInt(head.first().get(1)), head, body);
    }

    private Answered ask(Context context, String nodeId, String method, String path) throws Broken {
        Target target = target(nodeId);
        return target.client().run(context, target.dialled(), (wire, watchdog) -> {
            wire.write(request(target, method, path, method.equals("POST") ? "Content-Length: 0\r\n" : ""));
            return answered(wire, !method.equals("HEAD"));
        });
    }

    /** One small request whose answer is JSON or nothing. */
    private Answered small(Context context, String nodeId, String method, String path) {
        try {
            Answered answered = ask(context, nodeId, method, path);
            if (answered.status() >= 300) {
                throw refused(nodeId, method + " " + path, answered);
            }
            return answered;
        } catch (Broken e) {
            throw new UnreachableException(e.getMessage());
        }
    }

    private static StagingException refused(String nodeId, String what, Answered answered) {
        String reason;
        try {
            reason = Json.parseObject(answered.body()).optionalString("error").orElse("");
        } catch (JsonException e) {
            reason = "";
        }
        return new StagingException(what + " at node " + nodeId + " failed with status " + answered.status()
                + (reason.isEmpty() ? "" : ": " + reason));
    }

    private static String path(Answered answered, String nodeId) {
        try {
            return Json.parseObject(answered.body()).string("local_path");
        } catch (JsonException e) {
            throw new StagingException("node " + nodeId + " answered with something else: " + e.getMessage());
        }
    }

    @Override
    public void fetchRemote(Context context, String nodeId, String remotePath, Path local) {
        fetch(context.withTimeout(LONGEST), nodeId, remotePath, local);
    }

    @Override
    public void fetchRemoteByKey(Context context, String nodeId, String key, Path local) {
        fetch(context.withTimeout(LONGEST), nodeId, key, local);
    }

    private void fetch(Context context, String nodeId, String key, Path local) {
        Target target = target(nodeId);
        try {
            Path folder = local.toAbsolutePath().getParent();
            Files.createDirectories(folder);
            Path part = Files.createTempFile(folder, ".fetch-", ".part");
            try {
                Answered answered = target.client().run(context, target.dialled(), (wire, watchdog) -> {
                    wire.write(request(target, "GET", "/v1/files/" + encoded(key), ""));
                    Wire.Head head = NodeClient.answer(wire);
                    int status = Integer.parseInt(head.first().get(1));
                    if (status != 200) {
                        return new Answered(status, head, wire.text(head.length()));
                    }
                    receive(wire, head.length(), part);
                    return new Answered(status, head, "");
                });
                if (answered.status() != 200) {
                    throw refused(nodeId, "GET " + key, answered);
                }
                Files.move(part, local, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(part);
            }
        } catch (Broken e) {
            throw new UnreachableException(e.getMessage());
        } catch (IOException e) {
            throw new StagingException("cannot write " + local + ": " + e.getMessage());
        }
    }

    private static void receive(Wire wire, long length, Path part) throws IOException {
        try (FileChannel out = FileChannel.open(part, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            for (long left = length; left > 0; ) {
                ByteBuffer piece = wire.body(left);
                left -= piece.remaining();
                while (piece.hasRemaining()) {
                    out.write(piece);
                }
            }
        }
    }

    @Override
    public String allocRemoteTemp(Context context, String nodeId) {
        return path(small(context, nodeId, "POST", "/v1/files/temp"), nodeId);
    }

    @Override
    public void stageRemoteToStore(Context context, String nodeId, String remotePath, String key) {
        throw new NotServedException("carrier " + carrier + " moves files without a store");
    }

    @Override
    public List<String> listRemoteDir(Context context, String nodeId, String prefix) {
        Answered answered = small(context, nodeId, "GET", "/v1/files-list/" + encoded(prefix));
        try {
            return Json.parseObject(answered.body()).strings("files");
        } catch (JsonException e) {
            throw new StagingException("node " + nodeId + " answered with something else: " + e.getMessage());
        }
    }

    @Override
    public void releaseRemote(Context context, String nodeId, String key) {
        small(context, nodeId, "DELETE", "/v1/files/" + encoded(key));
    }

    @Override
    public void releaseRemoteRequest(Context context, String nodeId, String requestId, List<String> keys) {
        Optional<SeamException> first = Optional.empty();
        for (String key : keys) {
            try {
                releaseRemote(context, nodeId, key);
            } catch (SeamException e) {
                first = first.or(() -> Optional.of(e));
            }
        }
        if (first.isPresent()) {
            throw first.get();
        }
    }

    private static String encoded(String key) {
        return URLEncoder.encode(key, StandardCharsets.UTF_8)
                .replace("+", "%20")
                .replace("%2F", "/");
    }
}
