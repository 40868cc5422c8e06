package org.nemorelay.carrier.direct.internal;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.RefusedException;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.TimedOutException;
import org.nemorelay.seams.UnreachableException;
import org.nemorelay.seams.dial.BackendClient;

/** One running call: gRPC's thread fills it, its caller's thread empties it. One message is asked for ahead. */
final class GrpcCall extends ClientCall.Listener<byte[]> implements BackendClient.Call {
    private final String what;
    private final ClientCall<byte[], byte[]> call;
    private final Set<GrpcCall> owner;
    private final Queue<byte[]> messages = new ArrayDeque<>();
    private Optional<Status> end = Optional.empty();
    private boolean given;
    private Registration cancel = () -> {};

    GrpcCall(String what, ClientCall<byte[], byte[]> call, Set<GrpcCall> owner) {
        this.what = what;
        this.call = call;
        this.owner = owner;
    }

    static CallOptions bounded(CallOptions options, Context context) {
        return context.remaining()
                .map(left -> options.withDeadlineAfter(left.toNanos(), TimeUnit.NANOSECONDS))
                .orElse(options);
    }

    void start(Metadata headers, Context context) {
        owner.add(this);
        Transport.visit(() -> {
            call.start(this, headers);
            call.request(2);
        });
        cancel = context.onCancel(this::close);
    }

    @Override
    public void send(byte[] message) {
        synchronized (this) {
            while (!call.isReady() && end.isEmpty()) {
                await();
            }
            if (given) {
                throw new CancelledException(what + ": the call was cancelled");
            }
            if (end.isPresent()) {
                return; // How it ended is for next() to tell.
            }
        }
        Transport.visit(() -> call.sendMessage(message));
    }

    @Override
    public void halfClose() {
        synchronized (this) {
            if (end.isPresent() || given) {
                return;
            }
        }
        Transport.visit(call::halfClose);
    }

    @Override
    public Optional<byte[]> next() {
        byte[] message;
        synchronized (this) {
            while (messages.isEmpty() && end.isEmpty()) {
                await();
            }
            if (messages.isEmpty()) {
                Status status = end.get();
                if (status.isOk()) {
                    return Optional.empty();
                }
                throw failure(status);
            }
            message = messages.remove();
        }
        Transport.visit(() -> call.request(1));
        return Optional.of(message);
    }

    /** What is not our own end, deadline or a broken connection is the backend's answer. */
    private SeamException failure(Status status) {
        String reason = status.getDescription() == null ? status.getCode().name() : status.getDescription();
        if (given) {
            return new CancelledException(what + ": the call was cancelled");
        }
        return switch (status.getCode()) {
            // A cancellation that is not ours is how a server breaks off what it runs.
            case UNAVAILABLE, CANCELLED -> new UnreachableException(what + ": " + reason + cause(status));
            case DEADLINE_EXCEEDED -> new TimedOutException(what + ": no answer within the deadline");
            default -> new RefusedException(status.getCode().name(), what + " was refused: " + reason);
        };
    }

    private static String cause(Status status) {
        Throwable cause = status.getCause();
        return cause == null || cause.getMessage() == null ? "" : ": " + cause.getMessage();
    }

    private void await() {
        try {
            wait();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancelledException(what + ": interrupted");
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            if (given) {
                return;
            }
            given = end.isEmpty();
            if (given) {
                messages.clear();
                end = Optional.of(Status.CANCELLED);
            }
            notifyAll();
        }
        over();
        Transport.visit(() -> call.cancel("the caller ended the call", null));
    }

    private void over() {
        cancel.close();
        owner.remove(this);
    }

    @Override
    public synchronized void onMessage(byte[] message) {
        if (end.isEmpty()) {
            messages.add(message);
            notifyAll();
        }
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
        synchronized (this) {
            if (end.isEmpty()) {
                end = Optional.of(status);
            }
            notifyAll();
        }
        over();
    }

    @Override
    public synchronized void onReady() {
        notifyAll();
    }
}
