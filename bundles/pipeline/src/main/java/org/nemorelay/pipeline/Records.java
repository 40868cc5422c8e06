package org.nemorelay.pipeline;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.plugin.api.EventMetadataInjector;
import org.nemorelay.plugin.api.EventSanitizer;

/** Takes one event through metadata injectors and sanitizers (plugins.md 4.1, 4.2). Stateless, safe for any thread. */
public final class Records {
    private static final long CALL_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final Pattern KEY = Pattern.compile("[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*");
    private static final List<String> CHANGEABLE = List.of("data", "category_profile", "metadata");

    private Records() {}

    /** The event to record. Completes, never exceptionally, within 5 seconds for each service, on a stage thread. */
    public static CompletableFuture<Event> process(Stages stages, Event event) {
        CompletableFuture<Event> recorded = new CompletableFuture<>();
        inject(stages, 0, event, recorded);
        return recorded;
    }

    private static void inject(Stages stages, int at, Event event, CompletableFuture<Event> recorded) {
        if (at == stages.injectors().size()) {
            sanitize(stages, 0, event, recorded);
            return;
        }
        Stage<EventMetadataInjector> stage = stages.injectors().get(at);
        stage.share()
                .<Event>call(
                        CALL_NANOS,
                        budget -> Pipeline.answered(stage.service().inject(event))
                                .thenApply(additions -> added(event, additions)),
                        (injected, failure) -> inject(stages, at + 1, failure == null ? injected : event, recorded));
    }

    private static Event added(Event event, Map<String, Object> additions) {
        if (additions.isEmpty()) {
            return event;
        }
        Map<String, Object> metadata = new TreeMap<>(event.metadata().values());
        additions.forEach((key, value) -> {
            if (key == null || !KEY.matcher(key).matches()) {
                throw new IllegalArgumentException("metadata cannot have the key " + key);
            }
            if (!simple(value)) {
                throw new IllegalArgumentException(
                        "the value of " + key + " is no string, number or boolean, nor a list of one of these");
            }
            metadata.putIfAbsent(key, value);
        });
        return event.withMetadata(metadata);
    }

    private static boolean simple(Object value) {
        return switch (value) {
            case List<?> list ->
                !list.isEmpty() && list.stream().allMatch(item -> scalar(item) && kind(item) == kind(list.getFirst()));
            case null -> false;
            default -> scalar(value);
        };
    }

    private static boolean scalar(Object value) {
        return kind(value) != 0;
    }

    private static int kind(Object value) {
        return switch (value) {
            case String text -> 1;
            case Long number -> 2;
            case Integer number -> 2;
            case BigInteger number -> 2;
            case BigDecimal number -> 2;
            case Double number -> Double.isFinite(number) ? 2 : 0;
            case Float number -> Float.isFinite(number) ? 2 : 0;
            case Boolean flag -> 3;
            case null, default -> 0;
        };
    }

    private static void sanitize(Stages stages, int at, Event event, CompletableFuture<Event> recorded) {
        if (at == stages.sanitizers().size()) {
            recorded.complete(event);
            return;
        }
        Stage<EventSanitizer> stage = stages.sanitizers().get(at);
        stage.share()
                .<Event>call(
                        CALL_NANOS,
                        budget -> Pipeline.answered(stage.service().sanitize(event))
                                .thenApply(sanitized -> checked(event, sanitized)),
                        (sanitized, failure) -> {
                            if (failure == null) {
                                sanitize(stages, at + 1, sanitized, recorded);
                            } else {
                                recorded.complete(
                                        event.withData(null).withMetadata(null).withCategoryProfile(null));
                            }
                        });
    }

    private static Event checked(Event event, Event sanitized) {
        if (sanitized == event) {
            return event;
        }
        Map<String, Object> before = new TreeMap<>(event.values());
        Map<String, Object> after = new TreeMap<>(sanitized.values());
        before.keySet().removeAll(CHANGEABLE);
        after.keySet().removeAll(CHANGEABLE);
        if (!before.equals(after)) {
            throw new IllegalStateException("it changed more than data, category_profile and metadata");
        }
        return sanitized;
    }
}
