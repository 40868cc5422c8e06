package org.nemorelay.pluginhost.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.json.JsonObject;
import org.nemorelay.pipeline.Stages;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.plugin.api.ToolCall;
import org.nemorelay.pluginhost.Judgement;
import org.nemorelay.pluginhost.Judgement.Verdict;
import org.nemorelay.pluginhost.PolicyGate;
import org.nemorelay.pluginhost.Ruling;
import org.nemorelay.pluginhost.Snapshot;

@Timeout(60)
class PoliciesDecideTest {
    private static final ToolCall CALL = new ToolCall(
            ToolCall.Agent.CODEX,
            "PreToolUse",
            "Bash",
            Optional.of("call_1"),
            Map.of("command", "ls"),
            JsonObject.of(Map.of(), ""));

    private final MemoryLog events = new MemoryLog();
    private final List<String> log = events.messages;
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final List<PolicyThreads> threads = new ArrayList<>();
    private final CountDownLatch release = new CountDownLatch(1);

    @AfterEach
    void close() throws InterruptedException {
        release.countDown();
        for (PolicyThreads each : threads) {
            assertTrue(each.close(10_000));
        }
    }

    @Test
    void withoutPolicyACallIsAllowed() throws Exception {
        assertEquals(Ruling.NONE, Snapshot.NONE.rule(CALL).get());
    }

    @Test
    void theFirstDenialStandsAndLaterOnesAreNotAsked() throws Exception {
        Ruling ruling = rule(
                gate("d", 200, call -> done(Decision.deny("late"))),
                gate("c", 100, call -> CompletableFuture.supplyAsync(() -> Decision.deny("no " + call.tool()))),
                gate("b", 100, call -> done(Decision.allow())),
                gate("a", -1, call -> done(Decision.allow())));
        assertEquals(Optional.of("no Bash"), ruling.denial());
        assertEquals(
                List.of("a", "b", "c"),
                ruling.judgements().stream().map(Judgement::plugin).toList());
        assertEquals(List.of("a", "b", "c"), asked);
    }

    @Test
    void whatGoesWrongDeniesAndNamesThePlugin() throws Exception {
        List<HookPolicy> wrong = List.of(
                call -> {
                    throw new IllegalStateException("boom");
                },
                call -> {
                    throw new NoClassDefFoundError("boom");
                },
                call -> {
                    throw new StackOverflowError();
                },
                call -> {
                    throw new OutOfMemoryError();
                },
                call -> {
                    throw new Error("of its own making");
                },
                call -> {
                    throw new IllegalStateException() {
                        private static final long serialVersionUID = 1L;

                        @Override
                        public String toString() {
                            throw new IllegalStateException("boom");
                        }
                    };
                },
                call -> {
                    CompletableFuture<Decision> cancelled = new CompletableFuture<>();
                    cancelled.cancel(true);
                    return cancelled;
                },
                call -> null,
                call -> done(null),
                call -> CompletableFuture.failedStage(new IllegalStateException("boom")),
                call -> CompletableFuture.supplyAsync(() -> {
                    throw new IllegalStateException("boom");
                }));
        for (HookPolicy policy : wrong) {
            Ruling ruling = rule(gate("x", 1, policy), gate("y", 2, call -> done(Decision.allow())));
            assertEquals(Optional.of("the policy plugin \"x\" failed, so this tool call is denied"), ruling.denial());
            assertEquals(1, ruling.judgements().size());
        }
        assertEquals(wrong.size(), log.size(), log.toString());
        for (String nothing : List.of("it returned null", "its stage completed with null")) {
            assertTrue(
                    log.contains("plugin x failed in decide, the tool call is denied: java.lang.NullPointerException: "
                            + nothing),
                    log::toString);
        }
        assertEquals(
                "plugin x failed in decide, the tool call is denied: java.lang.IllegalStateException: boom",
                log.getLast());
    }

    @Test
    void oneThatDoesNotDecideDeniesIsInterruptedAndHoldsUpNobodyElse() throws Exception {
        CountDownLatch interrupted = new CountDownLatch(1);
        PolicyGate blocking = gate("x", 1, call -> {
            try {
                release.await();
            } catch (InterruptedException e) {
                interrupted.countDown();
            }
            return done(Decision.allow());
        });
        PolicyGate never = gate("y", 1, call -> new CompletableFuture<>());
        assertEquals(
                new Verdict.Failed("the policy plugin \"x\" did not decide within 1 s, so this tool call is denied"),
                blocking.judge(CALL, 50).get().verdict());
        assertTrue(interrupted.await(30, TimeUnit.SECONDS));
        assertInstanceFailed(never.judge(CALL, 50).get());
        assertEquals(
                new Verdict.Allowed(),
                gate("z", 1, call -> done(Decision.allow()))
                        .judge(CALL, 20_000)
                        .get()
                        .verdict());
    }

    @Test
    void oneThatHoldsAllItsThreadsKeepsDenying() throws Exception {
        PolicyGate stuck = gate("x", 1, call -> {
            boolean held = true;
            while (held) {
                try {
                    release.await();
                    held = false;
                } catch (InterruptedException e) {
                    // It does not listen.
                }
            }
            return done(Decision.allow());
        });
        List<CompletableFuture<Judgement>> judged = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            judged.add(stuck.judge(CALL, 200));
        }
        for (CompletableFuture<Judgement> each : judged) {
            assertInstanceFailed(each.get());
        }
        assertEquals(8, asked.size());
        assertInstanceFailed(stuck.judge(CALL, 50).get());
    }

    @Test
    void aPriorityThatCannotBeToldDoesNotSwitchThePolicyOff() throws Exception {
        Ruling ruling = rule(gate("x", new HookPolicy() {
            @Override
            public CompletionStage<Decision> decide(ToolCall call) {
                return done(Decision.deny("no"));
            }

            @Override
            public int priority() {
                throw new Error("none");
            }
        }));
        assertEquals(Optional.of("no"), ruling.denial());
    }

    @Test
    void whenItStopsItDenies() throws Exception {
        PolicyGate gate = gate("x", 1, call -> done(Decision.allow()));
        assertTrue(threads.getLast().close(10_000));
        assertInstanceFailed(gate.judge(CALL, 1000).get());
    }

    private static void assertInstanceFailed(Judgement judgement) {
        assertTrue(judgement.verdict() instanceof Verdict.Failed, judgement.toString());
        assertFalse(judgement.ended().isBefore(judgement.begun()));
    }

    private static CompletionStage<Decision> done(Decision decision) {
        return CompletableFuture.completedStage(decision);
    }

    private static Ruling rule(PolicyGate... gates) throws Exception {
        return new Snapshot(List.of(), List.of(gates), Stages.NONE).rule(CALL).get(30, TimeUnit.SECONDS);
    }

    private PolicyGate gate(String name, int priority, HookPolicy policy) throws Exception {
        return gate(name, new HookPolicy() {
            @Override
            public CompletionStage<Decision> decide(ToolCall call) throws Exception {
                asked.add(name);
                return policy.decide(call);
            }

            @Override
            public int priority() {
                return priority;
            }
        });
    }

    private PolicyGate gate(String name, HookPolicy policy) throws Exception {
        CompletableFuture<Optional<PolicyGate>> told = new CompletableFuture<>();
        threads.add(new PolicyThreads(name, events, () -> Optional.of(policy), told::complete, stuck -> {}));
        return told.get(30, TimeUnit.SECONDS).orElseThrow();
    }
}
