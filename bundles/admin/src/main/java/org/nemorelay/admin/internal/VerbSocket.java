package org.nemorelay.admin.internal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.nemorelay.admin.AdminVerb;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;

/** A control socket and the verbs that it answers. Where it cannot be, its process serves without it and warns. */
final class VerbSocket {
    private final EventLog log;
    private final Map<String, AdminVerb> verbs = new ConcurrentHashMap<>();
    private final Optional<AdminServer> server;

    /** Where the socket is to be, in a folder that is there and this user's own. */
    interface Place {
        Path prepared() throws IOException;
    }

    /** @param without what is missed where there is no socket, as the begin of a sentence */
    VerbSocket(Place place, String without, EventLog log) {
        this.log = log;
        this.server = open(place, without);
    }

    private Optional<AdminServer> open(Place place, String without) {
        try {
            Path socket = place.prepared();
            // The folder is this user's own, so its owner is who this process runs as.
            return Optional.of(AdminServer.open(socket, Files.getOwner(socket.getParent()), verbs, log));
        } catch (IOException | RelayException e) {
            log.log(Level.WARN, AdminServer.TARGET, "admin_socket_unavailable", without + ": " + e.getMessage());
            return Optional.empty();
        }
    }

    void add(AdminVerb verb) {
        verbs.put(verb.name(), verb);
    }

    void remove(AdminVerb verb) {
        verbs.remove(verb.name(), verb);
    }

    void close() {
        try {
            if (server.isPresent()) {
                server.get().close();
            }
        } catch (IOException e) {
            log.log(Level.WARN, AdminServer.TARGET, "admin_socket_not_removed", "Control socket was not removed: " + e);
        }
    }
}
