package org.nemorelay.testkit;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.function.Executable;
import org.nemorelay.seams.carrier.Seam;

/** What all suites share: a fresh rig for each test. A carrier's test extends each suite and opens its rig. */
public abstract class Conformance {
    private CarrierRig rig;

    protected abstract CarrierRig openRig();

    /** The seam under test. */
    abstract Seam seam();

    @BeforeEach
    void open() {
        rig = openRig();
        Assumptions.assumeTrue(
                rig.here().seams().contains(seam()), () -> rig.here().name() + " does not serve " + seam());
    }

    @AfterEach
    void close() {
        rig.close();
    }

    protected final CarrierRig rig() {
        return rig;
    }

    final boolean has(Capability capability) {
        return rig.capabilities().contains(capability);
    }

    /** Skips a test of what this carrier declares that it lacks. */
    final void needs(Capability capability) {
        Assumptions.assumeTrue(has(capability), () -> rig.here().name() + " declares no " + capability);
    }

    /** Runs the checks at the same time, since each waits for a bound to pass. */
    static void together(Map<String, Executable> checks) {
        Map<String, CompletableFuture<Throwable>> outcomes = new LinkedHashMap<>();
        checks.forEach((name, check) -> {
            CompletableFuture<Throwable> outcome = new CompletableFuture<>();
            outcomes.put(name, outcome);
            Thread.ofVirtual().start(() -> {
                try {
                    check.execute();
                    outcome.complete(null);
                } catch (Throwable thrown) {
                    outcome.complete(thrown);
                }
            });
        });
        Assertions.assertAll(outcomes.entrySet().stream().map(entry -> () -> {
            Throwable thrown = entry.getValue().join();
            if (thrown != null) {
                throw new AssertionError(entry.getKey() + ": " + thrown.getMessage(), thrown);
            }
        }));
    }

    /** The calls, each expected to fail in a way that {@code expected} checks. */
    static Map<String, Executable> each(Map<String, Executable> calls, BiConsumer<String, Executable> expected) {
        Map<String, Executable> checks = new LinkedHashMap<>();
        calls.forEach((name, call) -> checks.put(name, () -> expected.accept(name, call)));
        return checks;
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
