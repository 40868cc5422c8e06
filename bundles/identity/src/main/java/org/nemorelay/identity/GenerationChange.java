package org.nemorelay.identity;

import java.util.Optional;
import java.util.function.Function;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.RelayException;

/**
 * One change of the {@link GenerationFile} (relay-daemon 4.2). {@link #answer} is known when the file's {@code update} has
 * returned; a change is made once and belongs to one thread at a time.
 *
 * @param <T> what its maker wants to know
 */
public final class GenerationChange<T> {
    private final Function<GenerationFile.Records, T> change;
    private Optional<T> answer = Optional.empty();
    private Optional<RelayException> refusal = Optional.empty();

    private GenerationChange(Function<GenerationFile.Records, T> change) {
        this.change = change;
    }

    /** Makes this generation the user's; answers the one it replaces. */
    public static GenerationChange<Optional<Generation>> publish(Generation generation) {
        GenerationFile.check(generation);
        return new GenerationChange<>(all -> {
            if (all.active.size() >= GenerationFile.MAX_ROUTES && !all.active.containsKey(generation.fingerprint())) {
                throw new RelayException(
                        FailureKind.LIMIT_REACHED,
                        "the generations file cannot hold more than " + GenerationFile.MAX_ROUTES + " routes");
            }
            all.draining.remove(generation.fingerprint());
            return Optional.ofNullable(all.active.put(generation.fingerprint(), generation));
        });
    }

    /** Turns the user's generation into one that drains, if it is still the user's; answers whether it was. */
    public static GenerationChange<Boolean> drain(DrainingWorker worker) {
        GenerationFile.check(worker);
        return new GenerationChange<>(all -> {
            boolean same = serves(all, worker.fingerprint(), worker.generationId());
            if (same) {
                all.active.remove(worker.fingerprint());
                all.draining.put(worker.fingerprint(), worker);
            }
            return same;
        });
    }

    /** Removes the generation, serving or draining, if it is still the user's; answers whether it was. */
    public static GenerationChange<Boolean> revoke(Fingerprint fingerprint, String generationId) {
        return new GenerationChange<>(all -> {
            boolean served = serves(all, fingerprint, generationId);
            if (served) {
                all.active.remove(fingerprint);
            }
            DrainingWorker drains = all.draining.get(fingerprint);
            boolean drained = drains != null && drains.generationId().equals(generationId);
            if (drained) {
                all.draining.remove(fingerprint);
            }
            return served || drained;
        });
    }

    /** Puts back what a publication replaced, if the published generation is still the user's; answers whether it was. */
    public static GenerationChange<Boolean> restore(Generation published, Optional<Generation> previous) {
        return new GenerationChange<>(all -> {
            boolean same = published.equals(all.active.get(published.fingerprint()));
            if (same) {
                previous.ifPresentOrElse(
                        generation -> all.active.put(generation.fingerprint(), generation),
                        () -> all.active.remove(published.fingerprint()));
            }
            return same;
        });
    }

    /** What the change found; a {@link RelayException} when it alone was refused. */
    public T answer() {
        refusal.ifPresent(failure -> {
            throw failure;
        });
        return answer.orElseThrow(() -> new IllegalStateException("the change was not made"));
    }

    void apply(GenerationFile.Records all) {
        try {
            answer = Optional.of(change.apply(all));
        } catch (RelayException e) {
            refusal = Optional.of(e);
        }
    }

    private static boolean serves(GenerationFile.Records all, Fingerprint fingerprint, String generationId) {
        Generation current = all.active.get(fingerprint);
        return current != null && current.generationId().equals(generationId);
    }
}
