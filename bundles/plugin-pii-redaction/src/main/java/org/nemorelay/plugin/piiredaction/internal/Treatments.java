package org.nemorelay.plugin.piiredaction.internal;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Several treatments of one text. Each looks into the text as it was, so that none spoils what another one finds; finds that
 * overlap become one, which the longest of them stands for. A treatment that rewrites takes what those before it have left.
 */
final class Treatments {
    private record Find(Span span, Treatment treatment) {
        int length() {
            return span.end() - span.begin();
        }

        /** What leaves nothing to be read stands for an overlap before what does, then the longer one. */
        boolean before(Find other) {
            return treatment.leavesSome() == other.treatment.leavesSome()
                    ? length() > other.length()
                    : other.treatment.leavesSome();
        }
    }

    private Treatments() {}

    /** The text to record; empty when it is to be removed. */
    static Optional<String> text(List<Treatment> treatments, String key, String text) {
        String changed = text;
        List<Treatment> together = new ArrayList<>();
        for (Treatment treatment : treatments) {
            if (!treatment.rewrites()) {
                together.add(treatment);
                continue;
            }
            Optional<String> found = found(together, key, changed);
            if (found.isEmpty()) {
                return found;
            }
            changed = treatment.rewritten(found.get());
            together.clear();
        }
        return found(together, key, changed);
    }

    /** The name of a member to record: one that would be removed is replaced, since its member stays. */
    static String name(List<Treatment> treatments, String name) {
        List<Treatment> looking = treatments.stream().filter(Treatment::looks).toList();
        return text(looking, "", name)
                .orElseGet(() -> looking.stream()
                        .filter(Treatment::takesAll)
                        .findFirst()
                        .orElseThrow()
                        .change(name));
    }

    private static Optional<String> found(List<Treatment> treatments, String key, String text) {
        List<Find> finds = new ArrayList<>();
        for (Treatment treatment : treatments) {
            if (treatment.removes()) {
                return Optional.empty();
            }
            for (Span span : treatment.spans(key, text)) {
                if (treatment.takesAll()) {
                    return Optional.empty();
                }
                finds.add(new Find(span, treatment));
            }
        }
        if (finds.isEmpty()) {
            return Optional.of(text);
        }
        finds.sort(Comparator.comparingInt(find -> find.span().begin()));
        StringBuilder changed = new StringBuilder();
        int at = 0;
        for (int i = 0; i < finds.size(); ) {
            Find stands = finds.get(i);
            int begin = stands.span().begin();
            int end = stands.span().end();
            for (i++; i < finds.size() && finds.get(i).span().begin() < Math.max(end, begin + 1); i++) {
                end = Math.max(end, finds.get(i).span().end());
                stands = finds.get(i).before(stands) ? finds.get(i) : stands;
            }
            Span span = stands.span();
            changed.append(text, at, begin).append(stands.treatment().change(text.substring(span.begin(), span.end())));
            at = end;
        }
        return Optional.of(changed.append(text, at, text.length()).toString());
    }
}
