package org.nemorelay.carrier.nats.internal;

import io.nats.client.impl.Headers;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Message;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.Subjects;
import org.nemorelay.seams.Subscription;
import org.nemorelay.seams.carrier.Bus;

/** Fan-out and exchanges: NATS's own publish, subscribe and request, behind the closed grammar of subjects. */
final class NatsBus implements Bus {
    private final NatsLink link;

    NatsBus(NatsLink link) {
        this.link = link;
    }

    NatsLink link() {
        return link;
    }

    @Override
    public void publish(Message message) {
        Subjects.validate(message.subject());
        link.publish(message.subject(), headers(message.headers()), message.body());
    }

    private static Optional<Headers> headers(Map<String, String> given) {
        if (given.isEmpty()) {
            return Optional.empty();
        }
        Headers headers = new Headers();
        given.forEach(headers::put);
        return Optional.of(headers);
    }

    @Override
    public Subscription subscribe(String subject, Consumer<Message> handler) {
        Subjects.validate(subject);
        return link.subscribe(subject, Optional.empty(), arrived -> handler.accept(message(arrived)), () -> {});
    }

    private static Message message(io.nats.client.Message arrived) {
        Headers headers = arrived.getHeaders();
        if (headers == null || headers.isEmpty()) {
            return Message.of(arrived.getSubject(), arrived.getData());
        }
        Map<String, String> plain = new HashMap<>();
        for (String name : headers.keySet()) {
            plain.put(name, headers.getFirst(name));
        }
        return new Message(arrived.getSubject(), plain, arrived.getData());
    }

    @Override
    public Intake take(String subject, Optional<String> group, Sink sink, Runnable closeSink) {
        return link.subscribe(
                subject, group, arrived -> sink.accept(arrived.getData(), body -> answer(arrived, body)), closeSink);
    }

    private void answer(io.nats.client.Message request, byte[] body) {
        if (request.getReplyTo() != null) {
            link.answer(request, body);
        }
    }

    /** The context's cancellation is not heeded, as ever on NATS; its deadline is part of {@code bound}. */
    @Override
    public byte[] request(Context context, String subject, byte[] body, Duration bound) {
        Subjects.validate(subject);
        return link.request(subject, body, bound);
    }

    @Override
    public void flush(Duration bound) {
        link.flush(bound);
    }

    @Override
    public Registration onReconnect(Runnable action) {
        return link.onReconnect(action);
    }
}
