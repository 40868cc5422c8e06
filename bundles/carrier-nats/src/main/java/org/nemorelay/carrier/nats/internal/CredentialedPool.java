package org.nemorelay.carrier.nats.internal;

import io.nats.client.impl.NatsServerPool;
import io.nats.client.support.NatsUri;
import java.net.URISyntaxException;
import java.util.function.Consumer;
import org.nemorelay.protocol.RelayException;

/**
 * Gives user and password, read at that moment, with every server, also with those that the cluster named: the client
 * library knows them only as part of an address.
 */
final class CredentialedPool extends NatsServerPool {
    private final Credentials credentials;
    private final Consumer<String> unreadable;

    /** @param unreadable told why there are no credentials now; the attempt goes on without, and fails */
    CredentialedPool(Credentials credentials, Consumer<String> unreadable) {
        this.credentials = credentials;
        this.unreadable = unreadable;
    }

    @Override
    public NatsUri peekNextServer() {
        return with(super.peekNextServer());
    }

    @Override
    public NatsUri nextServer() {
        return with(super.nextServer());
    }

    @Override
    public void connectSucceeded(NatsUri server) {
        super.connectSucceeded(without(server));
    }

    @Override
    public void connectFailed(NatsUri server) {
        super.connectFailed(without(server));
    }

    private NatsUri with(NatsUri server) {
        if (server == null) {
            return null;
        }
        try {
            String userInfo = credentials.userInfo();
            return userInfo.isEmpty() ? server : address(server, userInfo);
        } catch (RelayException e) {
            unreadable.accept(e.getMessage());
            return server;
        }
    }

    private static NatsUri without(NatsUri server) {
        return server.getUserInfo() == null ? server : address(server, "");
    }

    private static NatsUri address(NatsUri server, String userInfo) {
        try {
            return new NatsUri(server.getScheme() + "://" + userInfo + server.getHost() + ":" + server.getPort());
        } catch (URISyntaxException e) {
            throw new IllegalStateException("encoded user information made an address unreadable");
        }
    }
}
