package org.nemorelay.carrier.nats.internal;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.StagingException;
import org.nemorelay.seams.staging.ObjectStore;
import org.nemorelay.seams.staging.TransferProgress;

/** A bucket that frontend and workers both reach, over S3's own HTTP, path style. Large files go up in parts. */
final class S3Store implements ObjectStore {
    private static final Duration CONNECT = Duration.ofSeconds(10);
    /** Without a byte moving. */
    private static final Duration STALL = Duration.ofSeconds(60);

    private static final int ATTEMPTS = 3;
    private static final long PAUSE_MILLIS = 200;
    private static final int CHUNK = 256 * 1024;
    private static final Pattern CODE = Pattern.compile("<Code>([A-Za-z0-9]+)</Code>");
    private static final Pattern UPLOAD = Pattern.compile("<UploadId>([^<]+)</UploadId>");

    /** Where the keys are; they are read for each request. */
    record Keys(String accessKey, Path secretKeyFile) {}

    private final URI endpoint;
    private final String bucket;
    private final String region;
    private final Optional<Keys> keys;
    private final long partBytes;

    /** @param partBytes a larger file goes up in parts of so many bytes */
    S3Store(URI endpoint, String bucket, String region, Optional<Keys> keys, long partBytes) {
        this.endpoint = endpoint;
        this.bucket = bucket;
        this.region = region;
        this.keys = keys;
        this.partBytes = partBytes;
    }

    /** Empty when none is configured. */
    static Optional<S3Store> of(NatsCarrierConfig config) {
        String where = "carrier " + config.carrier() + ": ";
        if (config.store_access_key().isEmpty()
                != config.store_secret_key_file().isEmpty()) {
            throw new RelayException(
                    FailureKind.CONFIGURATION,
                    where + "store_access_key and store_secret_key_file belong together: give both or neither");
        }
        if (config.store_url().isEmpty()) {
            return Optional.empty();
        }
        URI endpoint;
        try {
            endpoint = new URI(config.store_url());
        } catch (URISyntaxException e) {
            throw new RelayException(FailureKind.CONFIGURATION, where + "store_url is no URL");
        }
        boolean http = "http".equals(endpoint.getScheme()) || "https".equals(endpoint.getScheme());
        if (!http || endpoint.getHost() == null || endpoint.getRawUserInfo() != null) {
            throw new RelayException(
                    FailureKind.CONFIGURATION,
                    where + "store_url must be http:// or https:// and a host, without credentials");
        }
        Optional<Keys> keys = config.store_access_key().isEmpty()
                ? Optional.empty()
                : Optional.of(new Keys(config.store_access_key(), Path.of(config.store_secret_key_file())));
        return Optional.of(
                new S3Store(endpoint, config.store_bucket(), config.store_region(), keys, 64L * 1024 * 1024));
    }

    private record Answer(int status, String etag, String text) {
        boolean ok() {
            return status >= 200 && status < 300;
        }
    }

    /** What goes out, and what comes in when it is a file. */
    private record Body(Path file, long from, long length) {
        static final Body NONE = new Body(Path.of(""), 0, 0);
    }

    private record Progress(String file, TransferProgress told, long before, long total) {
        static final Progress NONE = new Progress("", TransferProgress.none(), 0, 0);
    }

    @Override
    public boolean exists(Context context, String key) {
        Answer answer = call(context, "HEAD", key, Map.of(), Body.NONE, new byte[0], Progress.NONE, Optional.empty());
        if (answer.status() == 404) {
            return false;
        }
        require(answer, "HEAD", key);
        return true;
    }

    @Override
    public void put(Context context, String key, Path file, TransferProgress progress) {
        long size;
        try {
            size = Files.size(file);
        } catch (IOException e) {
            throw new StagingException("cannot read " + file + ": " + e.getMessage());
        }
        if (size > partBytes) {
            putInParts(context, key, file, size, progress);
            return;
        }
        Progress told = new Progress(file.toString(), progress, 0, size);
        require(
                call(context, "PUT", key, Map.of(), new Body(file, 0, size), new byte[0], told, Optional.empty()),
                "PUT",
                key);
    }

    private void putInParts(Context context, String key, Path file, long size, TransferProgress progress) {
        String upload = match(
                UPLOAD,
                require(post(context, key, Map.of("uploads", ""), ""), "POST", key)
                        .text(),
                key);
        try {
            List<String> parts = new ArrayList<>();
            for (long from = 0; from < size; from += partBytes) {
                int number = parts.size() + 1;
                Body part = new Body(file, from, Math.min(partBytes, size - from));
                Answer answer = require(
                        call(
                                context,
                                "PUT",
                                key,
                                Map.of("partNumber", Integer.toString(number), "uploadId", upload),
                                part,
                                new byte[0],
                                new Progress(file.toString(), progress, from, size),
                                Optional.empty()),
                        "PUT",
                        key);
                parts.add("<Part><PartNumber>" + number + "</PartNumber><ETag>"
                        + answer.etag().replace("\"", "&quot;") + "</ETag></Part>");
            }
            Answer complete = require(
                    post(
                            context,
                            key,
                            Map.of("uploadId", upload),
                            "<CompleteMultipartUpload>" + String.join("", parts) + "</CompleteMultipartUpload>"),
                    "POST",
                    key);
            // S3 may begin its answer with 200 and end it with an error.
            if (complete.text().contains("<Error>")) {
                throw refused("POST", key, complete);
            }
        } catch (RuntimeException e) {
            call(
                    context.detached(),
                    "DELETE",
                    key,
                    Map.of("uploadId", upload),
                    Body.NONE,
                    new byte[0],
                    Progress.NONE,
                    Optional.empty());
            throw e;
        }
    }

    private Answer post(Context context, String key, Map<String, String> query, String body) {
        return call(
                context,
                "POST",
                key,
                query,
                Body.NONE,
                body.getBytes(StandardCharsets.UTF_8),
                Progress.NONE,
                Optional.empty());
    }

    @Override
    public void get(Context context, String key, Path file) {
        Path part = file.resolveSibling(file.getFileName() + ".part");
        try {
            require(
                    call(context, "GET", key, Map.of(), Body.NONE, new byte[0], Progress.NONE, Optional.of(part)),
                    "GET",
                    key);
            Files.move(
                    part,
                    file,
                    java.nio.file.StandardCopyOption.REPLACE_EXISTING,
                    java.nio.file.StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new StagingException("cannot write " + file + ": " + e.getMessage());
        } finally {
            deleteQuietly(part);
        }
    }

    private static void deleteQuietly(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            // Only a left-over beside the file.
        }
    }

    @Override
    public void delete(Context context, String key) {
        Answer answer = call(context, "DELETE", key, Map.of(), Body.NONE, new byte[0], Progress.NONE, Optional.empty());
        if (answer.status() != 404) {
            require(answer, "DELETE", key);
        }
    }

    private static String match(Pattern pattern, String text, String key) {
        Matcher found = pattern.matcher(text);
        if (!found.find()) {
            throw new StagingException("the store's answer for " + key + " was not understood");
        }
        return found.group(1);
    }

    private Answer require(Answer answer, String method, String key) {
        if (!answer.ok()) {
            throw refused(method, key, answer);
        }
        return answer;
    }

    private StagingException refused(String method, String key, Answer answer) {
        Matcher code = CODE.matcher(answer.text());
        return new StagingException(method + " of " + key + " in bucket " + bucket + " was answered " + answer.status()
                + (code.find() ? " " + code.group(1) : ""));
    }

    // One request

    private Answer call(
            Context context,
            String method,
            String key,
            Map<String, String> query,
            Body body,
            byte[] text,
            Progress progress,
            Optional<Path> into) {
        String path = path(key);
        for (int attempt = 1; ; attempt++) {
            context.check(method + " of " + key);
            String why;
            try {
                Answer answer = attempt(context, method, path, query, body, text, progress, into);
                if (answer.status() < 500 && answer.status() != 429 || attempt == ATTEMPTS) {
                    return answer;
                }
                why = "answered " + answer.status();
            } catch (IOException e) {
                context.check(method + " of " + key);
                why = Reasons.of(e);
            }
            if (attempt == ATTEMPTS) {
                throw new StagingException(method + " of " + key + " in bucket " + bucket + " failed: " + why);
            }
            pause(attempt);
        }
    }

    private static void pause(int attempt) {
        try {
            Thread.sleep(PAUSE_MILLIS << attempt);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StagingException("interrupted while waiting for the store");
        }
    }

    private String path(String key) {
        boolean leaves = key.isEmpty()
                || key.startsWith("/")
                || Stream.of(key.split("/", -1))
                        .anyMatch(part -> part.isEmpty() || part.equals(".") || part.equals(".."));
        if (leaves) {
            throw new StagingException("\"" + key + "\" is no key of the store");
        }
        String base = Optional.ofNullable(endpoint.getRawPath()).orElse("");
        return base + (base.endsWith("/") ? "" : "/") + SigV4.encode(bucket) + "/"
                + Stream.of(key.split("/")).map(SigV4::encode).collect(Collectors.joining("/"));
    }

    private Answer attempt(
            Context context,
            String method,
            String path,
            Map<String, String> query,
            Body body,
            byte[] text,
            Progress progress,
            Optional<Path> into)
            throws IOException {
        String host = endpoint.getHost() + (endpoint.getPort() < 0 ? "" : ":" + endpoint.getPort());
        String asked = query.isEmpty() ? "" : "?" + SigV4.query(query);
        HttpURLConnection connection =
                (HttpURLConnection) URI.create(endpoint.getScheme() + "://" + host + path + asked)
                        .toURL()
                        .openConnection(Proxy.NO_PROXY);
        connection.setConnectTimeout((int) CONNECT.toMillis());
        connection.setReadTimeout((int) STALL.toMillis());
        connection.setInstanceFollowRedirects(false);
        connection.setRequestMethod(method);
        String hash = body == Body.NONE ? SigV4.hex(SigV4.sha256().digest(text)) : hash(context, body);
        if (keys.isPresent()) {
            signer(keys.get())
                    .sign(method, host, path, query, hash, Instant.now())
                    .forEach(connection::setRequestProperty);
        }
        try (Registration _ = context.onCancel(connection::disconnect)) {
            if (method.equals("PUT") || method.equals("POST")) {
                send(context, connection, body, text, progress);
            }
            return answer(context, connection, into);
        } finally {
            connection.disconnect();
        }
    }

    private SigV4 signer(Keys which) {
        try {
            String secret = Files.readString(which.secretKeyFile()).strip();
            return new SigV4(which.accessKey(), secret, region);
        } catch (IOException e) {
            throw new StagingException("cannot read the secret key in " + which.secretKeyFile());
        }
    }

    private static String hash(Context context, Body body) throws IOException {
        MessageDigest digest = SigV4.sha256();
        ByteBuffer chunk = ByteBuffer.allocate(CHUNK);
        try (FileChannel file = FileChannel.open(body.file(), StandardOpenOption.READ)) {
            for (long done = 0; done < body.length(); done += chunk.remaining()) {
                context.check("reading " + body.file());
                read(file, chunk, body, done);
                digest.update(chunk.duplicate());
            }
        }
        return SigV4.hex(digest.digest());
    }

    private static void read(FileChannel file, ByteBuffer chunk, Body body, long done) throws IOException {
        chunk.clear().limit((int) Math.min(CHUNK, body.length() - done));
        if (file.read(chunk, body.from() + done) < 0) {
            throw new IOException(body.file() + " became shorter");
        }
        chunk.flip();
    }

    private static void send(Context context, HttpURLConnection connection, Body body, byte[] text, Progress progress)
            throws IOException {
        connection.setDoOutput(true);
        connection.setFixedLengthStreamingMode(body == Body.NONE ? text.length : body.length());
        try (OutputStream out = connection.getOutputStream()) {
            if (body == Body.NONE) {
                out.write(text);
                return;
            }
            ByteBuffer chunk = ByteBuffer.allocate(CHUNK);
            try (FileChannel file = FileChannel.open(body.file(), StandardOpenOption.READ)) {
                for (long done = 0; done < body.length(); ) {
                    context.check("sending " + body.file());
                    read(file, chunk, body, done);
                    out.write(chunk.array(), 0, chunk.remaining());
                    done += chunk.remaining();
                    progress.told().moved(progress.file(), progress.before() + done, progress.total());
                }
            }
        }
    }

    private static Answer answer(Context context, HttpURLConnection connection, Optional<Path> into)
            throws IOException {
        int status = connection.getResponseCode();
        String etag = Optional.ofNullable(connection.getHeaderField("ETag")).orElse("");
        if (into.isPresent() && status == 200) {
            long expected = connection.getContentLengthLong();
            long copied = 0;
            try (InputStream in = connection.getInputStream();
                    OutputStream out = Files.newOutputStream(into.get())) {
                byte[] chunk = new byte[CHUNK];
                for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
                    context.check("fetching " + into.get());
                    out.write(chunk, 0, read);
                    copied += read;
                }
            }
            if (expected >= 0 && copied != expected) {
                throw new IOException("the store sent " + copied + " of " + expected + " bytes");
            }
            return new Answer(status, etag, "");
        }
        try (InputStream in = status >= 400 ? connection.getErrorStream() : connection.getInputStream()) {
            return new Answer(
                    status, etag, in == null ? "" : new String(in.readNBytes(64 * 1024), StandardCharsets.UTF_8));
        }
    }
}
