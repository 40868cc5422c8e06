package org.nemorelay.cli.internal;

import java.io.IOException;
import java.io.PrintStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.nemorelay.admin.AdminClient;
import org.nemorelay.identity.StateFolder;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;

/** {@code nemo-relay carriers}: asks a running process of a fleet over its owner's control socket. */
public final class CarriersCommand {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final String SUFFIX = ".sock";

    private CarriersCommand() {}

    /** @param verb {@code list}, {@code status} or {@code use}, whose carrier is the one of {@code rest} */
    public static void run(
            String verb,
            Map<String, String> environment,
            Map<String, String> flags,
            List<String> rest,
            boolean json,
            PrintStream out) {
        Path socket = socket(AdminClient.fleetFolder(StateFolder.of(environment)), flags.getOrDefault("process", ""));
        Map<String, Object> arguments = verb.equals("use") ? Map.of("name", rest.getFirst()) : Map.of();
        JsonObject result = new AdminClient(socket).call("carriers." + verb, arguments, TIMEOUT);
        try {
            out.print(json ? Json.write(result) + "\n" : text(name(socket), result));
        } catch (JsonException e) {
            throw new RelayException(FailureKind.INTERNAL, "the answer on " + socket + ": " + e.getMessage(), e);
        }
    }

    private static Path socket(Path folder, String process) {
        Map<String, Path> running = running(folder);
        if (!process.isEmpty()) {
            Path socket = running.get(process);
            if (socket == null) {
                throw new RelayException(
                        FailureKind.NOT_FOUND,
                        "no process " + process + " of this user's fleet runs here" + among(running));
            }
            return socket;
        }
        if (running.size() == 1) {
            return running.values().iterator().next();
        }
        throw running.isEmpty()
                ? new RelayException(
                        FailureKind.NOT_FOUND,
                        "no frontend, node or agent-worker of this user runs here: nobody answers in " + folder)
                : new RelayException(FailureKind.INVALID_ARGUMENT, "say which process by --process" + among(running));
    }

    private static String among(Map<String, Path> running) {
        return running.isEmpty() ? "" : "; there are: " + String.join(", ", running.keySet());
    }

    private static Map<String, Path> running(Path folder) {
        Map<String, Path> running = new TreeMap<>();
        if (!Files.isDirectory(folder)) {
            return running;
        }
        try (DirectoryStream<Path> sockets = Files.newDirectoryStream(folder, "*" + SUFFIX)) {
            for (Path socket : sockets) {
                if (answers(socket)) {
                    running.put(name(socket), socket);
                }
            }
        } catch (IOException e) {
            throw new RelayException(FailureKind.STATE, folder + " cannot be read: " + Reasons.of(e), e);
        }
        return running;
    }

    private static String name(Path socket) {
        String name = socket.getFileName().toString();
        return name.substring(0, name.length() - SUFFIX.length());
    }

    private static boolean answers(Path socket) {
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            return probe.connect(UnixDomainSocketAddress.of(socket));
        } catch (IOException e) {
            return false;
        }
    }

    static String text(String process, JsonObject result) {
        StringBuilder text = new StringBuilder("Carriers of ").append(process).append('\n');
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("  NAME", "USED", "CONNECTED", "SEAMS"));
        for (JsonObject carrier : result.objects("carriers")) {
            rows.add(List.of(
                    "  " + carrier.string("name"),
                    carrier.bool("current") ? "yes" : "-",
                    carrier.bool("connected") ? "yes" : "no",
                    String.join(", ", carrier.strings("seams"))));
        }
        new Table(rows).append(text);
        if (result.keys().contains("wanted")) {
            text.append("\nWanted: ").append(result.string("wanted"));
            text.append("\nUsed: ").append(result.optionalString("current").orElse("none: calls fail until there is"));
            text.append("\nSwitches: ").append(result.integer("switches", 0, Long.MAX_VALUE));
            List<String> retiring = result.strings("retiring");
            text.append("\nFinishing what they began: ")
                    .append(retiring.isEmpty() ? "none" : String.join(", ", retiring));
            result.optionalString("failure")
                    .ifPresent(failure ->
                            text.append("\nThe last switch did not happen: ").append(failure));
            text.append('\n');
        }
        return text.toString();
    }
}
