package org.nemorelay.identity;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.Digest;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.RelayException;

/**
 * The worker generations that survive a restart of the daemon (relay-daemon 4.2). Each operation reads the file, and
 * rewrites it where needed, under its lock; what cannot be understood is a {@link FailureKind#STATE} failure, never
 * dropped. Operations block on the disk. Safe for any thread.
 */
@SuppressWarnings("try") // locks are held, not used
public final class GenerationFile {
    private static final int MAX_BYTES = 2 * 1024 * 1024;
    static final int MAX_ROUTES = 4096;
    private static final int MAX_ID = 128;

    private final PrivateFiles files;
    private final Path file;

    GenerationFile(PrivateFiles files, Path file) {
        this.files = files;
        this.file = file;
        snapshot();
    }

    /** All generations, sorted by fingerprint. */
    public synchronized List<Generation> snapshot() {
        try (PrivateFiles.Lock lock = lock()) {
            return List.copyOf(load().values());
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
     * Makes all changes in one rewrite, in order. A change that is refused leaves the others alone; when the file cannot be
     * written, none is made and the failure is thrown.
     */
    public synchronized void update(List<? extends GenerationChange<?>> changes) {
        try (PrivateFiles.Lock lock = lock()) {
            Map<Fingerprint, Generation> all = load();
            boolean changed = false;
            for (GenerationChange<?> change : changes) {
                changed |= change.apply(all);
            }
            if (changed) {
                store(all);
            }
        }
    }

    private synchronized Optional<Generation> find(Fingerprint fingerprint) {
        try (PrivateFiles.Lock lock = lock()) {
            return Optional.ofNullable(load().get(fingerprint));
        }
    }

    private PrivateFiles.Lock lock() {
        files.folder(file.getParent());
        return files.lock(file);
    }

    private Map<Fingerprint, Generation> load() {
        Map<Fingerprint, Generation> all = new TreeMap<>();
        Optional<byte[]> content = files.read(file, MAX_BYTES);
        if (content.isEmpty()) {
            return all;
        }
        try {
            JsonObject root = Json.parseObject(content.get()).only("schema_version", "generations");
            root.integer("schema_version", 1, 1);
            for (JsonObject entry : root.objects("generations")) {
                entry.only("fingerprint", "generation_id", "activation_id");
                Generation generation = new Generation(
                        new Fingerprint(Digest.of(entry.bytes("fingerprint", Digest.LENGTH))),
                        entry.string("generation_id"),
                        entry.optionalString("activation_id"));
                check(generation);
                if (all.put(generation.fingerprint(), generation) != null) {
                    throw new JsonException("fingerprint " + generation.fingerprint() + " stands twice");
                }
            }
            if (all.size() > MAX_ROUTES) {
                throw new JsonException("it has more than " + MAX_ROUTES + " entries");
            }
            return all;
        } catch (JsonException e) {
            throw new RelayException(
                    FailureKind.STATE,
                    file + " is not a valid generations file (" + e.getMessage()
                            + "); restore it, or remove it to forget which workers may come back",
                    e);
        }
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
        String text = Json.write(Json.object("schema_version", 1, "generations", entries));
        files.write(file, text.getBytes(StandardCharsets.UTF_8));
    }

    static void check(Generation generation) {
        idCheck(generation.generationId());
        generation.activationId().ifPresent(GenerationFile::idCheck);
    }

    private static void idCheck(String id) {
        int length = id.getBytes(StandardCharsets.UTF_8).length;
        if (length < 1 || length > MAX_ID) {
            throw new JsonException("ids must have 1 to " + MAX_ID + " bytes");
        }
    }
}
