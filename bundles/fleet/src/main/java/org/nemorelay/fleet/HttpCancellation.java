package org.nemorelay.fleet;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Registration;

/**
 * An HTTP exchange that its caller can leave at any moment. A connection that is closed between two of its steps begins anew by
 * itself, so the exchange has a thread of its own, which ends with the connection or its time limit.
 */
public final class HttpCancellation {
    private HttpCancellation() {}

    /** What is done with a connection. */
    @FunctionalInterface
    public interface Exchange<R, E extends Exception> {
        R run() throws IOException, E;
    }

    /**
     * The exchange's result.
     *
     * @throws CancelledException as soon as the context is cancelled
     */
    @SuppressWarnings("unchecked")
    public static <R, E extends Exception> R run(Context context, HttpURLConnection connection, Exchange<R, E> exchange)
            throws IOException, E {
        CompletableFuture<R> done = new CompletableFuture<>();
        Thread.ofVirtual().name("http request").start(() -> {
            try {
                done.complete(exchange.run());
            } catch (Throwable thrown) {
                done.completeExceptionally(thrown);
            }
        });
        try (Registration _ = context.onCancel(() -> done.cancel(false))) {
            return done.get();
        } catch (CancellationException e) {
            throw left(connection);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw left(connection);
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case IOException broken -> throw broken;
                case RuntimeException fault -> throw fault;
                case Error error -> throw error;
                default -> throw (E) e.getCause();
            }
        }
    }

    private static CancelledException left(HttpURLConnection connection) {
        Thread.ofVirtual().name("http request left").start(connection::disconnect);
        return new CancelledException("the request was cancelled by its caller");
    }
}
