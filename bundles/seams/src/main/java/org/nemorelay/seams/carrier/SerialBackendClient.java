package org.nemorelay.seams.carrier;

import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.dial.BackendClient;

/** A client for a backend that takes one call at a time: the next one waits, within its own deadline. */
public final class SerialBackendClient implements BackendClient {
    private final BackendClient client;
    private final Slots turn = new Slots(1);

    public SerialBackendClient(BackendClient client) {
        this.client = client;
    }

    @Override
    public byte[] call(Context context, String method, byte[] request) {
        takeTurn(context, method);
        try {
            return client.call(context, method, request);
        } finally {
            turn.give();
        }
    }

    @Override
    public Call open(Context context, String method) {
        takeTurn(context, method);
        try {
            return new LeasedCall(client.open(context, method), turn::give);
        } catch (RuntimeException e) {
            turn.give();
            throw e;
        }
    }

    private void takeTurn(Context context, String method) {
        context.check(method);
        if (!turn.take(context)) {
            context.check(method + ": the backend was busy with another call");
            throw new CancelledException(
                    method + ": the client was closed or interrupted while it waited for its turn");
        }
    }

    @Override
    public void close() {
        turn.close();
        client.close();
    }
}
