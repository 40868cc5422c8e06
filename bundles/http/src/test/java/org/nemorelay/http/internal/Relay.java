package org.nemorelay.http.internal;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.nemorelay.http.Destination;
import org.nemorelay.http.ExchangeListener;
import org.nemorelay.http.FailureAnswer;
import org.nemorelay.http.HttpEngine;
import org.nemorelay.http.HttpListener;
import org.nemorelay.http.Origin;
import org.nemorelay.http.Outcome;
import org.nemorelay.http.WireProtocol;

/** A listener that forwards everything to one origin and keeps the outcomes. */
final class Relay implements AutoCloseable {
    final HttpEngine engine;
    private final boolean own;
    private final HttpListener listener;
    final AtomicInteger begun = new AtomicInteger();
    final List<Outcome> outcomes = new CopyOnWriteArrayList<>();

    Relay(String origin, WireProtocol protocol, UnaryOperator<Destination> options) {
        this(HttpEngine.create(Map.of()), true, origin, protocol, options);
    }

    /** With what this environment says about trust and time. */
    Relay(String origin, Map<String, String> environment) {
        this(HttpEngine.create(environment), true, origin, WireProtocol.HTTP_1_1, destination -> destination);
    }

    Relay(String origin) {
        this(origin, WireProtocol.HTTP_1_1, destination -> destination);
    }

    Relay(HttpEngine engine, boolean own, String origin, WireProtocol protocol, UnaryOperator<Destination> options) {
        this(engine, own, origin, protocol, options, (request, forward) -> forward.run());
    }

    /** Forwards when {@code when} says so. */
    Relay(String origin, Map<String, String> environment, BiConsumer<Request, Runnable> when) {
        this(HttpEngine.create(environment), true, origin, WireProtocol.HTTP_1_1, destination -> destination, when);
    }

    private Relay(
            HttpEngine engine,
            boolean own,
            String origin,
            WireProtocol protocol,
            UnaryOperator<Destination> options,
            BiConsumer<Request, Runnable> when) {
        this.engine = engine;
        this.own = own;
        Origin to = Origin.of(origin);
        listener = engine.listen("127.0.0.1", 0, server -> new Handler.Abstract.NonBlocking() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) {
                begun.incrementAndGet();
                when.accept(
                        request,
                        () -> engine.forwarder()
                                .forward(
                                        request,
                                        response,
                                        callback,
                                        options.apply(Destination.of(
                                                to,
                                                protocol,
                                                request.getHttpURI().getPathQuery())),
                                        new ExchangeListener() {
                                            @Override
                                            public void end(Outcome outcome) {
                                                outcomes.add(outcome);
                                            }
                                        },
                                        FailureAnswer.GATEWAY));
                return true;
            }
        });
    }

    /** Another hop in front of this one. */
    Relay behind(WireProtocol protocol) {
        return new Relay(engine, false, "http://127.0.0.1:" + port(), protocol, destination -> destination);
    }

    HttpListener listener() {
        return listener;
    }

    int port() {
        return listener.port();
    }

    Outcome outcome() {
        await("the exchange's end", () -> !outcomes.isEmpty());
        return outcomes.getFirst();
    }

    /** Waits until so many exchanges have ended, after which their upstream connections are back in the pool. */
    void ended(int count) {
        await(count + " ended exchanges", () -> outcomes.size() >= count);
    }

    static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + Duration.ofSeconds(10).toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("not within 10 s: " + what);
            }
            java.util.concurrent.locks.LockSupport.parkNanos(2_000_000);
        }
    }

    @Override
    public void close() {
        listener.close();
        if (own) {
            engine.close();
        }
    }
}
