package org.nemorelay.carrier.nats.internal;

import io.nats.client.support.NatsUri;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/**
 * Where to connect and as whom.
 *
 * @param servers addresses without credentials
 * @param discover whether other servers of the cluster are used too
 */
record Settings(String name, List<String> servers, boolean discover, Credentials credentials, Optional<Tls> tls) {
    private static final Set<String> SCHEMES = Set.of("nats", "tls", "opentls");

    /** @throws RelayException for an address that is none: unlike a server that is down, waiting does not help */
    static Settings of(NatsCarrierConfig config) {
        String where = "carrier " + config.carrier() + ": ";
        List<String> servers = new ArrayList<>();
        boolean secure = false;
        for (String server : config.servers()) {
            NatsUri uri = parsed(where, server);
            secure |= !uri.getScheme().equals("nats");
            servers.add(uri.getScheme() + "://" + uri.getHost() + ":" + uri.getPort());
        }
        if (servers.isEmpty()) {
            throw new RelayException(FailureKind.CONFIGURATION, where + "servers names no server");
        }
        return new Settings(
                config.carrier(),
                List.copyOf(servers),
                config.discover_servers(),
                Credentials.of(config),
                Tls.of(config, secure));
    }

    private static NatsUri parsed(String where, String server) {
        NatsUri uri;
        try {
            uri = new NatsUri(server);
        } catch (URISyntaxException | IllegalArgumentException e) {
            throw new RelayException(
                    FailureKind.CONFIGURATION, where + "servers has an address that is none: use nats://host:port");
        }
        if (uri.getUserInfo() != null) {
            throw new RelayException(
                    FailureKind.CONFIGURATION,
                    where + "servers must not contain credentials: use password_file, token_file or another file");
        }
        if (!SCHEMES.contains(uri.getScheme())) {
            throw new RelayException(
                    FailureKind.CONFIGURATION, where + "servers knows nats:// and tls://, not " + uri.getScheme());
        }
        return uri;
    }
}
