package org.nemorelay.plugin.observability.internal;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.common.ComponentLoader;
import io.opentelemetry.context.Context;
import io.opentelemetry.exporter.internal.FailedExportException;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporterBuilder;
import io.opentelemetry.exporter.sender.jdk.internal.JdkHttpSenderProvider;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.common.export.HttpSenderProvider;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.plugin.api.PluginConfig;

/**
 * One trace endpoint: scopes as spans over OTLP/HTTP, with the names and attributes of the GenAI semantic conventions. The
 * SDK sends them in batches from a thread of its own; a full queue drops spans.
 */
final class Traces implements Sink {
    private static final int MAX_KNOWN = 10_000;
    private static final long FLUSH_SECONDS = 5;

    /** What a span tells of its scope. */
    private enum Detail {
        FULL,
        GEN_AI
    }

    private final HttpTarget target;
    private final Detail detail;
    private final Set<String> excludedMarks;
    private final Counting exporter;
    /** Those that the SDK has started for this endpoint; it has no name for them but its own. */
    private final Set<Thread> senders;

    /** Held, as the JDK forgets the level of a logger that nobody holds. */
    private final Logger exporterLog = Logger.getLogger("io.opentelemetry.exporter.otlp.internal.HttpExporter");

    private final SdkTracerProvider provider;
    private final Tracer tracer;
    private long told;
    private final Map<String, Span> open = new LinkedHashMap<>();
    /** Of scopes that are over: others may still name them as their parent. */
    private final Map<String, SpanContext> known = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, SpanContext> eldest) {
            return size() > MAX_KNOWN;
        }
    };

    private Traces(HttpTarget target, PluginConfig config) {
        this.target = target;
        this.detail = config.string("type").equals("full") ? Detail.FULL : Detail.GEN_AI;
        this.excludedMarks = Set.copyOf(
                config.has("mark_exclude_names") ? config.strings("mark_exclude_names") : List.of("llm.chunk"));
        OtlpHttpSpanExporterBuilder otlp = OtlpHttpSpanExporter.builder()
                .setEndpoint(endpoint(target))
                .setTimeout(Duration.ofMillis(target.timeoutMillis()))
                // Inside a bundle nothing is found by looking around.
                .setComponentLoader(new OwnComponents());
        target.headers().forEach(otlp::addHeader);
        // What it would log at every failure is told here, once.
        exporterLog.setLevel(Level.OFF);
        this.exporter = new Counting(otlp.build(), target.timeoutMillis() + 500);
        Set<Thread> before = senders();
        SpanProcessor batches = BatchSpanProcessor.builder(exporter)
                .setMaxQueueSize((int) config.integer("max_queue_size", 2048, 1, 1_000_000))
                .setMaxExportBatchSize((int) config.integer("max_export_batch_size", 512, 1, 1_000_000))
                .setScheduleDelay(Duration.ofMillis(config.integer("scheduled_delay_millis", 5000, 1, 3_600_000)))
                // What has failed is to be known by then.
                .setExporterTimeout(Duration.ofMillis(target.timeoutMillis() + 1000))
                .build();
        this.senders = new HashSet<>(senders());
        senders.removeAll(before);
        this.provider = SdkTracerProvider.builder()
                .addSpanProcessor(batches)
                .setResource(Resource.create(resource(config)))
                .build();
        this.tracer = provider.get(config.string("instrumentation_scope", "opentelemetry"));
    }

    static Traces of(PluginConfig config, Map<String, String> environment) {
        config.only(
                "type",
                "endpoint",
                "transport",
                "service_name",
                "service_namespace",
                "service_version",
                "instrumentation_scope",
                "timeout_millis",
                "max_queue_size",
                "max_export_batch_size",
                "scheduled_delay_millis",
                "headers",
                "header_env",
                "resource_attributes",
                "mark_projection",
                "mark_exclude_names");
        switch (config.string("type")) {
            case "full", "gen_ai" -> {}
            case "openinference" ->
                throw config.failure("type", "openinference is not supported by this version, use full or gen_ai");
            case String other -> throw config.failure("type", "\"" + other + "\" is no type, use full or gen_ai");
        }
        if (!config.string("transport", "http_binary").equals("http_binary")) {
            throw config.failure("transport", "only http_binary is supported by this version");
        }
        switch (config.string("mark_projection", "inherit")) {
            case "inherit", "event" -> {}
            case String other ->
                throw config.failure(
                        "mark_projection", "\"" + other + "\" is not supported by this version, use event");
        }
        return new Traces(HttpTarget.of(config, "endpoint", environment), config);
    }

    /** With the usual path where the address has none at all. */
    private static String endpoint(HttpTarget target) {
        String path = target.uri().getRawPath();
        return path == null || path.isEmpty()
                ? target.uri() + "/v1/traces"
                : target.uri().toString();
    }

    private static Attributes resource(PluginConfig config) {
        AttributesBuilder attributes = Attributes.builder();
        attributes.put("service.name", config.string("service_name", "unknown_service"));
        config.optionalString("service_namespace").ifPresent(name -> attributes.put("service.namespace", name));
        config.optionalString("service_version").ifPresent(version -> attributes.put("service.version", version));
        PluginConfig more = config.table("resource_attributes");
        more.keys().forEach(key -> attributes.put(key, more.string(key)));
        return attributes.build();
    }

    // ---- events

    @Override
    public void write(Event event) throws IOException {
        switch (event.kind()) {
            case SCOPE_START -> start(event);
            case SCOPE_END -> end(event);
            case MARK -> mark(event);
        }
        tell();
    }

    private void start(Event event) {
        SpanBuilder builder = tracer.spanBuilder(Conventions.spanName(event))
                .setStartTimestamp(event.timestamp())
                .setSpanKind(event.category().filter("llm"::equals).isPresent() ? SpanKind.CLIENT : SpanKind.INTERNAL);
        Optional<SpanContext> parent = event.parentUuid().flatMap(this::contextOf);
        builder.setParent(parent.isPresent() ? Context.root().with(Span.wrap(parent.get())) : Context.root());
        Span span = builder.startSpan();
        attributes(span, Conventions.ofStart(event));
        if (detail == Detail.FULL) {
            full(span, event, "input");
        }
        open.put(event.uuid(), span);
        if (open.size() > MAX_KNOWN) {
            // Its end was lost.
            String oldest = open.keySet().iterator().next();
            open.remove(oldest).end();
        }
    }

    private void end(Event event) {
        Span span = open.remove(event.uuid());
        if (span == null) {
            return;
        }
        attributes(span, Conventions.ofEnd(event));
        if (event.category().filter("llm"::equals).isPresent()) {
            // The answer may be the first to tell the model.
            span.updateName(Conventions.spanName(event));
        }
        if (detail == Detail.FULL) {
            full(span, event, "output");
        }
        JsonObject metadata = event.metadata();
        switch (metadata.optionalString("otel.status_code").orElse("")) {
            case "OK" -> span.setStatus(StatusCode.OK);
            case "ERROR" ->
                span.setStatus(
                        StatusCode.ERROR,
                        metadata.optionalString("otel.status_description").orElse(""));
            default -> {}
        }
        span.end(event.timestamp());
        known.put(event.uuid(), span.getSpanContext());
    }

    /** As an event of the scope around it; one that stands alone is a span without length. */
    private void mark(Event event) {
        if (excludedMarks.contains(event.name())) {
            return;
        }
        AttributesBuilder attributes = Attributes.builder();
        if (detail == Detail.FULL) {
            event.data().ifPresent(data -> attributes.put("nemo_relay.data", Json.write(data)));
        }
        Span around = event.parentUuid().map(open::get).orElse(null);
        if (around != null) {
            around.addEvent(event.name(), attributes.build(), event.timestamp());
            return;
        }
        Optional<SpanContext> parent = event.parentUuid().flatMap(this::contextOf);
        tracer.spanBuilder(event.name())
                .setParent(parent.isPresent() ? Context.root().with(Span.wrap(parent.get())) : Context.root())
                .setStartTimestamp(event.timestamp())
                .setAllAttributes(attributes.build())
                .startSpan()
                .end(event.timestamp());
    }

    private Optional<SpanContext> contextOf(String uuid) {
        Span span = open.get(uuid);
        return span != null ? Optional.of(span.getSpanContext()) : Optional.ofNullable(known.get(uuid));
    }

    private static void full(Span span, Event event, String side) {
        event.data().ifPresent(data -> span.setAttribute("nemo_relay." + side, Json.write(data)));
        event.metadata().values().forEach((key, value) -> attribute(span, "nemo_relay.metadata." + key, value));
    }

    private static void attributes(Span span, Map<String, Object> attributes) {
        attributes.forEach((key, value) -> attribute(span, key, value));
    }

    private static void attribute(Span span, String key, Object value) {
        switch (value) {
            case String text -> span.setAttribute(key, text);
            case Long number -> span.setAttribute(key, number);
            case BigDecimal number -> span.setAttribute(key, number.doubleValue());
            case Boolean flag -> span.setAttribute(key, flag);
            case List<?> list
            when !list.isEmpty() && list.stream().allMatch(String.class::isInstance) ->
                span.setAttribute(
                        io.opentelemetry.api.common.AttributeKey.stringArrayKey(key),
                        list.stream().map(String.class::cast).toList());
            case null -> {}
            default -> span.setAttribute(key, Json.write(value));
        }
    }

    @Override
    public void flush() throws IOException {
        provider.forceFlush().join(FLUSH_SECONDS, TimeUnit.SECONDS);
        tell();
    }

    private void tell() throws IOException {
        long failed = exporter.failed();
        if (exporter.failing() || failed > told) {
            told = failed;
            throw new IOException(failed + " spans did not reach " + target + exporter.why());
        }
    }

    @Override
    public void close() {
        open.values().forEach(Span::end);
        provider.shutdown().join(FLUSH_SECONDS, TimeUnit.SECONDS);
        // The SDK's thread would sleep through the delay between two batches before it sees that it is over.
        senders.forEach(Thread::interrupt);
        try {
            for (Thread sender : senders) {
                sender.join(Duration.ofSeconds(1));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Set<Thread> senders() {
        Thread[] all = new Thread[Thread.activeCount() + 16];
        int count = Thread.enumerate(all);
        return Arrays.stream(all, 0, count)
                .filter(thread -> thread.getName().startsWith(BatchSpanProcessor.class.getSimpleName()))
                .collect(Collectors.toSet());
    }

    /** Counts what the exporter could not send. */
    private static final class Counting implements SpanExporter {
        private final SpanExporter exporter;
        private final long timeoutMillis;
        private final AtomicLong failed = new AtomicLong();
        private final AtomicReference<String> why = new AtomicReference<>("");
        private volatile boolean failing;

        Counting(SpanExporter exporter, long timeoutMillis) {
            this.exporter = exporter;
            this.timeoutMillis = timeoutMillis;
        }

        long failed() {
            return failed.get();
        }

        boolean failing() {
            return failing;
        }

        String why() {
            return why.get();
        }

        @Override
        public CompletableResultCode export(Collection<SpanData> spans) {
            int count = spans.size();
            CompletableResultCode sent = exporter.export(spans);
            CompletableResultCode result = new CompletableResultCode();
            sent.whenComplete(() -> {
                if (sent.isSuccess()) {
                    result.succeed();
                } else {
                    result.failExceptionally(
                            sent.getFailureThrowable() == null
                                    ? new IOException("it took them not")
                                    : sent.getFailureThrowable());
                }
            });
            // The exporter's own time ends with the head of the answer.
            CompletableFuture.delayedExecutor(timeoutMillis, TimeUnit.MILLISECONDS)
                    .execute(() ->
                            result.failExceptionally(new IOException("it did not answer in " + timeoutMillis + " ms")));
            result.whenComplete(() -> {
                failing = !result.isSuccess();
                if (failing) {
                    failed.addAndGet(count);
                    why.set(": " + reason(result.getFailureThrowable()));
                }
            });
            return result;
        }

        private static String reason(Throwable cause) {
            return cause instanceof FailedExportException.HttpExportException answer && answer.getResponse() != null
                    ? "it answered " + answer.getResponse().getStatusCode()
                    : HttpTarget.reason(cause);
        }

        @Override
        public CompletableResultCode flush() {
            return exporter.flush();
        }

        @Override
        public CompletableResultCode shutdown() {
            return exporter.shutdown();
        }
    }

    private static final class OwnComponents implements ComponentLoader {
        @Override
        public <T> Iterable<T> load(Class<T> type) {
            List<T> components = new ArrayList<>();
            if (type == HttpSenderProvider.class) {
                components.add(type.cast(new JdkHttpSenderProvider()));
            }
            return components;
        }
    }
}
