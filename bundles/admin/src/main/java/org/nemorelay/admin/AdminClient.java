package org.nemorelay.admin;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.nemorelay.admin.internal.Lines;
import org.nemorelay.identity.StateFolder;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;

/** Asks a running process of this user over its control socket: one JSON line each way. Stateless; safe for any thread. */
public final class AdminClient {
    private static final int MAX_REPLY_BYTES = 16 << 20;

    private final Path socket;

    public AdminClient(Path socket) {
        this.socket = socket;
    }

    /** Where the daemon that listens on this port has its socket. */
    public static Path socket(StateFolder folder, int port) {
        return folder.daemon().resolve("admin-" + port + ".sock");
    }

    /**
     * Where daemons that listened on this port and are stopping have theirs; nobody need answer there any more. Reads the
     * folder.
     */
    public static List<Path> stopping(StateFolder folder, int port) {
        List<Path> sockets = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(folder.daemon(), "admin-" + port + "-*.sock")) {
            found.forEach(sockets::add);
        } catch (IOException | DirectoryIteratorException e) {
            // A folder that cannot be read has no daemon of this user.
        }
        sockets.sort(null);
        return sockets;
    }

    /** Where the daemon of that process moves its socket when it begins to stop. */
    public static Path stopping(Path socket, long pid) {
        String name = socket.getFileName().toString();
        return socket.resolveSibling(name.substring(0, name.lastIndexOf('.')) + "-" + pid + ".sock");
    }

    /** Where processes of a fleet that run as this user have their sockets, each {@code NAME.sock}. */
    public static Path fleetFolder(StateFolder folder) {
        return folder.base().resolve("fleet");
    }

    /**
     * The verb's result.
     *
     * @throws RelayException {@link FailureKind#UNAVAILABLE} where nobody listens, {@link FailureKind#TIMEOUT} after
     *     {@code timeout}, otherwise what the other side says
     */
    public JsonObject call(String verb, Map<String, Object> arguments, Duration timeout) {
        Map<String, Object> request = new LinkedHashMap<>();
        request.put("verb", verb);
        request.put("arguments", arguments);
        String reply;
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            Thread timer = Lines.closeAfter(channel, timeout);
            try {
                channel.connect(UnixDomainSocketAddress.of(socket));
                Lines.write(channel, Json.write(request));
                reply = Lines.read(channel, MAX_REPLY_BYTES);
            } finally {
                timer.interrupt();
            }
        } catch (AsynchronousCloseException e) {
            throw new RelayException(
                    FailureKind.TIMEOUT, "no answer on " + socket + " within " + timeout.toSeconds() + " s", e);
        } catch (IOException e) {
            throw new RelayException(FailureKind.UNAVAILABLE, "nobody answers on " + socket + ": " + Reasons.of(e), e);
        }
        return result(reply);
    }

    private JsonObject result(String reply) {
        try {
            JsonObject object = Json.parseObject(reply);
            if (object.bool("ok")) {
                return object.object("result");
            }
            JsonObject error = object.object("error");
            throw new RelayException(kind(error.string("kind")), error.string("message"));
        } catch (JsonException e) {
            throw new RelayException(
                    FailureKind.INTERNAL, "the answer on " + socket + " is not understood: " + e.getMessage(), e);
        }
    }

    private static FailureKind kind(String word) {
        try {
            return FailureKind.valueOf(word.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            return FailureKind.INTERNAL;
        }
    }
}
