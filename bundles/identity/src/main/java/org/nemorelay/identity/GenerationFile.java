package org.nemorelay.identity;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.Digest;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.RelayException;

/**
 * The worker generations that survive a restart of the daemon (relay-daemon 4.2), and beside them, in a file of its own
 * because other programs read the first one strictly, the workers that drain. Each operation reads the files, and rewrites
 * them where needed, under one lock; what cannot be understood is a {@link FailureKind#STATE} failure, never dropped.
 * Operations block on the disk. Safe for any thread.
 */
@SuppressWarnings("try") // locks are held, not used
public final class GenerationFile {
    private static final int MAX_BYTES = 2 * 1024 * 1024;
    private static final int MAX_DRAINING_BYTES = 16 * 1024 * 1024;
    static final int MAX_ROUTES = 4096;
    private static final int MAX_ID = 128;
    private static final int MAX_WORKER_ID = 256;
    private static final int MAX_ENDPOINT = 2_048;
    private static final int MAX_PORT = 65_535;

    private final PrivateFiles files;
    private final Path file;
    private final Path drainingFile;

    /** What both files say, by user; a user is in one of the two. */
    static final class Records {
        final Map<Fingerprint, Generation> active = new TreeMap<>();
        final Map<Fingerprint, DrainingWorker> draining = new TreeMap<>();
    }

    GenerationFile(PrivateFiles files, Path file, Path drainingFile) {
        this.files = files;
        this.file = file;
        this.drainingFile = drainingFile;
        try (PrivateFiles.Lock lock = lock()) {
            files.removeUnfinished(file);
            files.removeUnfinished(drainingFile);
            load();
        }
    }

    /** All generations that may serve, sorted by fingerprint. */
    public synchronized List<Generation> snapshot() {
        try (PrivateFiles.Lock lock = lock()) {
            return List.copyOf(load().active.values());
        }
    }

    /** All workers that drain, sorted by fingerprint. */
    public synchronized List<DrainingWorker> draining() {
        try (PrivateFiles.Lock lock = lock()) {
            return List.copyOf(load().draining.values());
        }
    }

    /** Whether this generation serves the user. */
    public boolean matches(Fingerprint fingerprint, String generationId) {
        Optional<Generation> current = find(fingerprint);
        return current.isPresent() && current.get().generationId().equals(generationId);
    }

    /** The launch that brought up this generation, where it is the user's and known. */
    public Optional<String> launchActivation(Fingerprint fingerprint, String generationId) {
        Optional<Generation> current = find(fingerprint);
        return current.isPresent() && current.get().generationId().equals(generationId)
                ? current.get().activationId()
                : Optional.empty();
    }

    /**
     * Makes all changes in one rewrite, in order. A change that is refused leaves the others alone; when a file cannot be
     * written, the failure is thrown.
     */
    public synchronized void update(List<? extends GenerationChange<?>> changes) {
        try (PrivateFiles.Lock lock = lock()) {
            Records all = load();
            Map<Fingerprint, Generation> active = Map.copyOf(all.active);
            Map<Fingerprint, DrainingWorker> draining = Map.copyOf(all.draining);
            changes.forEach(change -> change.apply(all));
            // A crash between the two leaves a drain that is known, never a worker that may return from one.
            if (!draining.equals(all.draining)) {
                storeDraining(all.draining);
            }
            if (!active.equals(all.active)) {
                store(all.active);
            }
        }
    }

    private synchronized Optional<Generation> find(Fingerprint fingerprint) {
        try (PrivateFiles.Lock lock = lock()) {
            return Optional.ofNullable(load().active.get(fingerprint));
        }
    }

    private PrivateFiles.Lock lock() {
        files.folder(file.getParent());
        return files.lock(file);
    }

    private Records load() {
        Records all = new Records();
        entries(file, MAX_BYTES, "generations", GenerationFile::generation, Generation::fingerprint, all.active);
        entries(
                drainingFile,
                MAX_DRAINING_BYTES,
                "draining",
                GenerationFile::drainingWorker,
                DrainingWorker::fingerprint,
                all.draining);
        all.draining.values().removeIf(drain -> {
            Generation active = all.active.get(drain.fingerprint());
            return active != null && !active.generationId().equals(drain.generationId());
        });
        all.active.keySet().removeAll(all.draining.keySet());
        return all;
    }

    private <T> void entries(
            Path from,
            int maxBytes,
            String key,
            Function<JsonObject, T> read,
            Function<T, Fingerprint> user,
            Map<Fingerprint, T> all) {
        Optional<byte[]> content = files.read(from, maxBytes);
        if (content.isEmpty()) {
            return;
        }
        try {
            JsonObject root = Json.parseObject(content.get()).only("schema_version", key);
            long schema = root.integer("schema_version", 1, Integer.MAX_VALUE);
            if (schema != 1) {
                throw new JsonException("schema_version is " + schema + ", of a newer daemon; this one knows 1");
            }
            for (JsonObject entry : root.objects(key)) {
                T value = read.apply(entry);
                if (all.put(user.apply(value), value) != null) {
                    throw new JsonException("fingerprint " + user.apply(value) + " stands twice");
                }
            }
            if (all.size() > MAX_ROUTES) {
                throw new JsonException("it has more than " + MAX_ROUTES + " entries");
            }
        } catch (JsonException e) {
            throw new RelayException(
                    FailureKind.STATE,
                    from + " is not a valid " + key + " file (" + e.getMessage()
                            + "); restore it, or remove it and so forget what it says of workers",
                    e);
        }
    }

    private static Generation generation(JsonObject entry) {
        entry.only("fingerprint", "generation_id", "activation_id");
        Generation generation = new Generation(
                fingerprint(entry), entry.string("generation_id"), entry.optionalString("activation_id"));
        check(generation);
        return generation;
    }

    private static DrainingWorker drainingWorker(JsonObject entry) {
        entry.only("fingerprint", "generation_id", "worker_id", "endpoint", "until_unix_ms");
        DrainingWorker worker = new DrainingWorker(
                fingerprint(entry),
                entry.string("generation_id"),
                entry.string("worker_id"),
                entry.string("endpoint"),
                entry.integer("until_unix_ms", 0, Long.MAX_VALUE));
        check(worker);
        return worker;
    }

    private static Fingerprint fingerprint(JsonObject entry) {
        return new Fingerprint(Digest.of(entry.bytes("fingerprint", Digest.LENGTH)));
    }

    private void store(Map<Fingerprint, Generation> all) {
        List<Object> entries = new ArrayList<>();
        for (Generation generation : all.values()) {
            Map<String, Object> entry = Json.object(
                    "fingerprint",
                    generation.fingerprint().digest().bytes(),
                    "generation_id",
                    generation.generationId());
            generation.activationId().ifPresent(id -> entry.put("activation_id", id));
            entries.add(entry);
        }
        write(file, "generations", entries);
    }

    private void storeDraining(Map<Fingerprint, DrainingWorker> all) {
        List<Object> entries = new ArrayList<>();
        for (DrainingWorker worker : all.values()) {
            entries.add(Json.object(
                    "fingerprint",
                    worker.fingerprint().digest().bytes(),
                    "generation_id",
                    worker.generationId(),
                    "worker_id",
                    worker.workerId(),
                    "endpoint",
                    worker.endpoint(),
                    "until_unix_ms",
                    worker.untilUnixMs()));
        }
        write(drainingFile, "draining", entries);
    }

    private void write(Path to, String key, List<Object> entries) {
        files.write(
                to, Json.write(Json.object("schema_version", 1, key, entries)).getBytes(StandardCharsets.UTF_8));
    }

    static void check(Generation generation) {
        length("ids", generation.generationId(), MAX_ID);
        generation.activationId().ifPresent(id -> length("ids", id, MAX_ID));
    }

    static void check(DrainingWorker worker) {
        length("ids", worker.generationId(), MAX_ID);
        length("worker ids", worker.workerId(), MAX_WORKER_ID);
        length("endpoints", worker.endpoint(), MAX_ENDPOINT);
        if (!isEndpoint(worker.endpoint())) {
            throw new JsonException("an endpoint must be an absolute http or https URL with a host and a port");
        }
    }

    private static boolean isEndpoint(String text) {
        try {
            URI uri = new URI(text);
            return ("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()))
                    && uri.getHost() != null
                    && uri.getPort() >= 1
                    && uri.getPort() <= MAX_PORT;
        } catch (URISyntaxException e) {
            return false;
        }
    }

    private static void length(String what, String text, int max) {
        int length = text.getBytes(StandardCharsets.UTF_8).length;
        if (length < 1 || length > max) {
            throw new JsonException(what + " must have 1 to " + max + " bytes");
        }
    }
}
