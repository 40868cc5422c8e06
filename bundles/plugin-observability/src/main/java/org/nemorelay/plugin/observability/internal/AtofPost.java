package org.nemorelay.plugin.observability.internal;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.nemorelay.plugin.api.Event;

/**
 * A server that gets one POST of one line for each event, in their order, from a thread of its own: a server that is slow or
 * gone holds up no other sink. An event that it does not take is dropped and not sent again.
 */
final class AtofPost implements Sink {
    private static final int MAX_WAITING = 4096;
    private static final long FLUSH_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final HttpTarget target;
    private final FieldNames names;
    private final HttpClient client;
    private final Thread thread;

    // Guarded by this.
    private final Deque<String> waiting = new ArrayDeque<>();
    private long lost;
    private long told;
    private boolean losing;
    private String cause = "";
    private boolean sending;
    private boolean closed;

    AtofPost(HttpTarget target, FieldNames names, int number) {
        this.target = target;
        this.names = names;
        this.client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(Duration.ofMillis(target.timeoutMillis()))
                .build();
        this.thread = Thread.ofPlatform().name("atof-post-" + number).daemon().start(this::send);
    }

    @Override
    public synchronized void write(Event event) throws IOException {
        if (waiting.size() >= MAX_WAITING) {
            lost(target + " is slower than the events");
        } else {
            waiting.add(names.line(event) + "\n");
            notifyAll();
        }
        tell();
    }

    @Override
    public synchronized void flush() throws IOException, InterruptedException {
        if (!settled()) {
            throw new IOException(waiting.size() + (sending ? 1 : 0) + " events have not reached " + target
                    + " yet, it is slower than they come");
        }
        tell();
    }

    private boolean settled() throws InterruptedException {
        long deadline = System.nanoTime() + FLUSH_NANOS;
        while (!waiting.isEmpty() || sending) {
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (left <= 0) {
                return false;
            }
            wait(left);
        }
        return true;
    }

    private void tell() throws IOException {
        if (losing || lost > told) {
            told = lost;
            throw new IOException(lost + " events did not reach " + target + ": " + cause);
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        thread.interrupt();
        client.shutdownNow();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        client.close();
    }

    private void send() {
        try {
            for (Optional<String> line = next(); line.isPresent(); line = next()) {
                try {
                    post(line.get());
                    taken();
                } catch (IOException | IllegalArgumentException e) {
                    synchronized (this) {
                        lost(HttpTarget.reason(e));
                    }
                }
            }
        } catch (InterruptedException e) {
            // Closed.
        }
    }

    private void post(String line) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(target.uri())
                .header("content-type", "application/x-ndjson")
                .POST(HttpRequest.BodyPublishers.ofString(line, StandardCharsets.UTF_8));
        target.headers().forEach(request::setHeader);
        // The request's own time ends with the head of the answer.
        CompletableFuture<HttpResponse<Void>> answer =
                client.sendAsync(request.build(), HttpResponse.BodyHandlers.discarding());
        try {
            int status =
                    answer.get(target.timeoutMillis(), TimeUnit.MILLISECONDS).statusCode();
            if (status / 100 != 2) {
                throw new IOException("it answered " + status);
            }
        } catch (TimeoutException e) {
            throw new IOException("it did not answer in " + target.timeoutMillis() + " ms", e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException cause
                    ? cause
                    : new IOException(e.getCause().toString(), e);
        } finally {
            answer.cancel(true);
        }
    }

    private synchronized Optional<String> next() throws InterruptedException {
        sending = false;
        notifyAll();
        while (waiting.isEmpty()) {
            if (closed) {
                return Optional.empty();
            }
            wait();
        }
        sending = true;
        return Optional.of(waiting.remove());
    }

    private synchronized void taken() {
        losing = false;
    }

    private void lost(String why) {
        lost++;
        losing = true;
        cause = why;
    }
}
