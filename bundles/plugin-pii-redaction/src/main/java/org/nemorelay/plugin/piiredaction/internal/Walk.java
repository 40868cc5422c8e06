package org.nemorelay.plugin.piiredaction.internal;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A walk over one value with all treatments at once: paths address what was there, and each treatment sees the texts as they
 * were. Names of members are treated as texts are; no member is lost by it. Immutable.
 *
 * @param treatment what to do
 * @param path where, from here; empty for here and everything below
 * @param targeted whether the place was named, so that a removal takes it whatever it is
 */
record Walk(Treatment treatment, List<String> path, boolean targeted) {
    /** Stands for a value that is taken out of its object. */
    private static final Object REMOVED = new Object();

    /** The value of a key to record, null for none. */
    static Object over(String key, Object value, List<Walk> walks) {
        Object treated = treated(key, value, walks);
        return treated == REMOVED ? null : treated;
    }

    /** What of the walks goes on to a member. */
    static List<Walk> into(String name, List<Walk> walks) {
        List<Walk> on = new ArrayList<>(walks.size());
        for (Walk walk : walks) {
            if (walk.path.isEmpty()) {
                on.add(walk);
            } else if (walk.path.getFirst().equals(name)) {
                on.add(new Walk(walk.treatment, walk.path.subList(1, walk.path.size()), walk.targeted));
            }
        }
        return on;
    }

    private static Object treated(String key, Object value, List<Walk> walks) {
        if (walks.isEmpty()) {
            return value;
        }
        List<Treatment> here = new ArrayList<>(walks.size());
        for (Walk walk : walks) {
            if (walk.path.isEmpty()) {
                if (walk.targeted && walk.treatment.removes()) {
                    return REMOVED;
                }
                here.add(walk.treatment);
            }
        }
        return switch (value) {
            case String text -> orRemoved(Treatments.text(here, key, text));
            case Long number -> number(number, here);
            case BigInteger number -> number(number, here);
            case Map<?, ?> map -> members(map, here, walks);
            case List<?> list -> {
                List<Object> changed = new ArrayList<>(list.size());
                for (int i = 0; i < list.size(); i++) {
                    changed.add(over(key, list.get(i), into(Integer.toString(i), walks)));
                }
                yield changed;
            }
            case null, default -> value;
        };
    }

    /** An object whose own names stay, for they are the relay's. */
    static Object below(Object value, List<Walk> walks) {
        return value instanceof Map<?, ?> map ? members(map, List.of(), walks) : value;
    }

    private static Map<Object, Object> members(Map<?, ?> map, List<Treatment> here, List<Walk> walks) {
        Map<String, String> renamed = renamed(map, here);
        Map<Object, Object> changed = new LinkedHashMap<>();
        map.forEach((key, value) -> {
            String name = String.valueOf(key);
            Object treated = treated(name, value, into(name, walks));
            if (treated != REMOVED) {
                changed.put(renamed.getOrDefault(name, name), treated);
            }
        });
        return changed;
    }

    /** The names that change, each with one that no other member has. */
    private static Map<String, String> renamed(Map<?, ?> map, List<Treatment> here) {
        Map<String, String> renamed = new LinkedHashMap<>();
        Set<String> taken = new HashSet<>();
        for (Object key : map.keySet()) {
            String name = String.valueOf(key);
            String treated = Treatments.name(here, name);
            if (treated.equals(name)) {
                taken.add(name);
            } else {
                renamed.put(name, treated);
            }
        }
        Map<String, Integer> counts = new HashMap<>();
        renamed.replaceAll((name, treated) -> {
            String unique = treated;
            while (!taken.add(unique)) {
                unique = treated + " " + (counts.merge(treated, 1, Integer::sum) + 1);
            }
            return unique;
        });
        return renamed;
    }

    private static Object number(Number number, List<Treatment> here) {
        String text = number.toString();
        List<Treatment> finders =
                here.stream().filter(treatment -> treatment.finds(text)).toList();
        return finders.isEmpty() ? number : orRemoved(Treatments.text(finders, "", text));
    }

    private static Object orRemoved(Optional<String> treated) {
        return treated.isPresent() ? treated.get() : REMOVED;
    }
}
