package org.nemorelay.identity;

import java.util.Map;
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
    private final Function<Map<Fingerprint, Generation>, T> change;
    private Optional<T> answer = Optional.empty();
    private Optional<RelayException> refusal = Optional.empty();

    private GenerationChange(Function<Map<Fingerprint, Generation>, T> change) {
        this.change = change;
    }

    /** Makes this generation the user's; answers the one it replaces. */
    public static GenerationChange<Optional<Generation>> publish(Generation generation) {
        GenerationFile.check(generation);
        return new GenerationChange<>(all -> {
            if (all.size() >= GenerationFile.MAX_ROUTES && !all.containsKey(generation.fingerprint())) {
                throw new RelayException(
                        FailureKind.LIMIT_REACHED,
                        "the generations file cannot hold more than " + GenerationFile.MAX_ROUTES + " routes");
            }
            return Optional.ofNullable(all.put(generation.fingerprint(), generation));
        });
    }

    /** Removes the generation if it is still the user's; answers whether it was. */
    public static GenerationChange<Boolean> revoke(Fingerprint fingerprint, String generationId) {
        return new GenerationChange<>(all -> {
            Generation current = all.get(fingerprint);
            boolean same = current != null && current.generationId().equals(generationId);
            if (same) {
                all.remove(fingerprint);
            }
            return same;
        });
    }

    /** Puts back what a publication replaced, if the published generation is still the user's; answers whether it was. */
    public static GenerationChange<Boolean> restore(Generation published, Optional<Generation> previous) {
        return new GenerationChange<>(all -> {
            boolean same = published.equals(all.get(published.fingerprint()));
            if (same) {
                previous.ifPresentOrElse(
                        generation -> all.put(generation.fingerprint(), generation),
                        () -> all.remove(published.fingerprint()));
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

    /** Tells whether the file must be written. */
    boolean apply(Map<Fingerprint, Generation> all) {
        try {
            T found = change.apply(all);
            answer = Optional.of(found);
            return !Boolean.FALSE.equals(found);
        } catch (RelayException e) {
            refusal = Optional.of(e);
            return false;
        }
    }
}
