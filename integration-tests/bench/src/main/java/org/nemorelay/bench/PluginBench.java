package org.nemorelay.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.ModelResponse;
import org.nemorelay.plugin.api.RequestIntercept;
import org.nemorelay.plugin.api.StreamEvent;
import org.nemorelay.plugin.api.StreamHandler;
import org.nemorelay.plugin.api.StreamIntercept;
import org.nemorelay.plugin.api.StreamOutput;

/** What plugins cost a request, as groups of workers have measured ({@link PluginGroup}), and what their coming and going does. */
final class PluginBench {
    private final Path folder;
    private final LeanProvider lean;
    private final int groups;
    private final Targets targets;

    /** @param groups of processes, one after the other */
    PluginBench(Path folder, LeanProvider lean, int groups, Targets targets) {
        this.folder = folder;
        this.lean = lean;
        this.groups = groups;
        this.targets = targets;
    }

    /** Sets one header, named by its configuration. */
    public static final class Header implements RequestIntercept {
        private final String name;

        public Header(Map<String, Object> properties) {
            name = "x-" + properties.get("name");
        }

        @Override
        public CompletionStage<ModelRequest> rewrite(ModelRequest request) {
            return CompletableFuture.completedStage(request.withHeader(name, "1"));
        }
    }

    /** Passes every event on as it is. */
    public static final class Passing implements StreamIntercept, StreamHandler {
        public Passing(Map<String, Object> properties) {}

        @Override
        public StreamHandler open(ModelRequest request, ModelResponse.Streamed response) {
            return this;
        }

        @Override
        public CompletionStage<Void> onEvent(StreamEvent event, StreamOutput out) {
            out.emit(event);
            return DONE;
        }
    }

    /** The report. */
    String run() throws Exception {
        String requests = requests();
        System.err.println(requests);
        return requests + DeployBench.run(folder, lean, targets);
    }

    private String requests() throws IOException {
        List<PluginGroup> measured = new ArrayList<>();
        try (LongStreams streams = new LongStreams()) {
            while (measured.size() < groups) {
                PluginGroup group = PluginGroup.measured(
                        folder.resolve("group-" + measured.size()), lean, streams, new Random(measured.size()));
                measured.add(group);
                Main.progress("group " + measured.size() + " of " + groups + ": observer "
                        + Ratio.of(List.of(group.p50s().beside(PluginWay.OBSERVER)))
                                .percent() + ", by chance "
                        + Ratio.of(List.of(group.p50s().byChance())).percent()
                        + ", microseconds of the worker: without "
                        + group.times().get(PluginWay.NONE) + ", with "
                        + group.times().get(PluginWay.OBSERVER));
            }
        }
        Ratio observer = ratio(measured, group -> group.p50s().beside(PluginWay.OBSERVER));
        Ratio headers = difference(measured, group -> group.p50s().beside(PluginWay.HEADERS));
        Ratio stream = ratio(measured, group -> group.streams().beside(PluginWay.STREAM));
        return """
                # What plugins cost

                Written by `integration-tests/bench/bench plugins`; do not edit by hand. What holds each figure is in
                [performance-notes.md](performance-notes.md).

                Machine: %s

                ## Method

                Groups of new processes, %d of them, are measured one after the other: one daemon and five workers of the same age,
                which differ in their plugins alone, and two of them in nothing. After %,d requests to each (and %d streams to those
                that are asked for streams) they are asked in turns on one connection, forward and back (A B C D, D C B A), each
                round in another order. A turn is %d requests, of which the first %d do not count, after a pause of %d ms, in which
                the record of the turn before is written. There are %d rounds; the p50 of a worker in a round is over both its turns.

                What is compared is the p50 of the same round: the figure is the median of a group's ratios, and of the groups the
                median. In parentheses: the interval of 95 %% by bootstrap (groups drawn anew, and rounds of each). "Without" is the
                mean of the two workers that have no plugin; "by chance" compares these two with each other in the same way, and no
                figure says more than that. Processor time is that of all threads of the worker but the compiler's. Deployments are
                windows of 16 s each in turns, with changes and without.

                ## Figures

                | | figure | target |
                | --- | --- | --- |
                | p50 without a plugin | %.0f µs | |
                | p50 with one observing plugin, more than without | %s | %s |
                | the same by chance | %s | |
                | processor time of a request in the worker: without, with the observing plugin | %.0f µs, %.0f µs | |
                | of that, the threads of the record, which no request waits for | %.0f µs | |
                | added to p50 by %d request intercepts of one header each | %s | %s |
                | the same by chance | %s | |
                | a stream of %,d events, untouched | %.1f ms | |
                | the same through one stream intercept, times that | %s | %s |
                | the same by chance | %s | |
                """.formatted(
                Report.machine(),
                groups,
                PluginGroup.WARM_UP,
                PluginGroup.WARM_STREAMS,
                PluginGroup.LEAD + PluginGroup.TURN,
                PluginGroup.LEAD,
                PluginGroup.PAUSE_MILLIS,
                PluginGroup.ROUNDS,
                over(measured, group -> Ratio.median(group.p50s().without())),
                observer.percent(),
                targets.atMost("p50 with one observing plugin, % more", 100 * (observer.value() - 1), 5),
                ratio(measured, group -> group.p50s().byChance()).percent(),
                over(measured, group -> group.times().get(PluginWay.NONE).all()),
                over(measured, group -> group.times().get(PluginWay.OBSERVER).all()),
                over(measured, group -> group.times().get(PluginWay.OBSERVER).record()),
                PluginWay.INTERCEPTS,
                headers.micros(),
                targets.atMost("added by request intercepts, µs", headers.value(), 50),
                difference(measured, group -> group.p50s().byChance()).micros(),
                LongStreams.EVENTS,
                over(measured, group -> Ratio.median(group.streams().without())),
                stream.times(),
                targets.atMost("a stream through one intercept, times", stream.value(), 1.3),
                ratio(measured, group -> group.streams().byChance()).times());
    }

    private static Ratio ratio(List<PluginGroup> groups, Function<PluginGroup, List<Ratio.Pair>> pairs) {
        return Ratio.of(groups.stream().map(pairs).toList());
    }

    private static Ratio difference(List<PluginGroup> groups, Function<PluginGroup, List<Ratio.Pair>> pairs) {
        return Ratio.ofDifferences(groups.stream().map(pairs).toList());
    }

    private static double over(List<PluginGroup> groups, ToDoubleFunction<PluginGroup> figure) {
        return Ratio.median(groups.stream().mapToDouble(figure).toArray());
    }
}
