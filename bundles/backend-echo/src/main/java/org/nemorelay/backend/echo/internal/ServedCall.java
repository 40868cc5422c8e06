package org.nemorelay.backend.echo.internal;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.RefusedException;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.dial.BackendService;

/** One call at the server: gRPC's thread fills it, the service's thread empties it and answers. */
public final class ServedCall extends ServerCall.Listener<byte[]> implements BackendService.Exchange {
    private final String method;
    private final ServerCall<byte[], byte[]> call;
    private final Queue<byte[]> messages = new ArrayDeque<>();
    private boolean ended;
    private boolean cancelled;

    public ServedCall(String method, ServerCall<byte[], byte[]> call) {
        this.method = method;
        this.call = call;
    }

    public ServedCall start(BackendService service) {
        call.sendHeaders(new Metadata());
        call.request(1);
        Thread.ofVirtual().name("backend " + method).start(() -> serve(service));
        return this;
    }

    private void serve(BackendService service) {
        Status status;
        try {
            service.serve(method, this);
            status = Status.OK;
        } catch (RefusedException e) {
            status = code(e.code()).toStatus().withDescription(e.getMessage());
        } catch (CancelledException e) {
            return; // Nobody is there for a status.
        } catch (SeamException e) {
            status = Status.INTERNAL.withDescription(e.getMessage());
        } catch (RuntimeException e) {
            status = Status.UNKNOWN.withDescription(method + " failed at the backend: " + e);
        }
        synchronized (this) {
            if (!cancelled) {
                call.close(status, new Metadata());
            }
        }
    }

    private static Status.Code code(String word) {
        try {
            return Status.Code.valueOf(word);
        } catch (IllegalArgumentException e) {
            return Status.Code.UNKNOWN;
        }
    }

    @Override
    public synchronized Optional<byte[]> next() {
        while (messages.isEmpty() && !ended && !cancelled) {
            await();
        }
        if (!messages.isEmpty()) {
            call.request(1);
            return Optional.of(messages.remove());
        }
        if (cancelled) {
            throw gone();
        }
        return Optional.empty();
    }

    @Override
    public synchronized void send(byte[] message) {
        while (!call.isReady() && !cancelled) {
            await();
        }
        if (cancelled) {
            throw gone();
        }
        call.sendMessage(message);
    }

    private CancelledException gone() {
        return new CancelledException(method + ": the client has gone");
    }

    private void await() {
        try {
            wait();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancelledException(method + ": interrupted");
        }
    }

    @Override
    public synchronized void onMessage(byte[] message) {
        messages.add(message);
        notifyAll();
    }

    @Override
    public synchronized void onHalfClose() {
        ended = true;
        notifyAll();
    }

    @Override
    public synchronized void onCancel() {
        cancelled = true;
        notifyAll();
    }

    @Override
    public synchronized void onReady() {
        notifyAll();
    }
}
