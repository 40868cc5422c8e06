package org.nemorelay.plugin.api;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Set;
import org.junit.jupiter.api.Test;

class HeaderMapTest {
    private static final HeaderMap BEFORE =
            HeaderMap.of().adding("A", "1").adding("b", "2").adding("c", "3").adding("a", "4");

    @Test
    void namesWhoseValuesOrTheirOrderAreOthersHaveChanged() {
        assertEquals(Set.of(), BEFORE.namesChangedFrom(BEFORE));
        assertEquals(Set.of("d"), BEFORE.with("D", "5").namesChangedFrom(BEFORE));
        assertEquals(Set.of("a"), BEFORE.adding("A", "5").namesChangedFrom(BEFORE));
        assertEquals(Set.of("a"), BEFORE.with("a", "1").namesChangedFrom(BEFORE));
        assertEquals(Set.of("b"), BEFORE.without("B").namesChangedFrom(BEFORE));
        assertEquals(Set.of("d"), BEFORE.namesChangedFrom(BEFORE.with("d", "5")));
        assertEquals(Set.of("a", "b", "c"), HeaderMap.of().namesChangedFrom(BEFORE));
    }

    @Test
    void namesThatMovedAmongOthersHaveNot() {
        HeaderMap moved = HeaderMap.of()
                .adding("c", "3")
                .adding("A", "1")
                .adding("a", "4")
                .adding("b", "2");
        assertEquals(Set.of(), moved.namesChangedFrom(BEFORE));
        HeaderMap turned = HeaderMap.of()
                .adding("a", "4")
                .adding("b", "2")
                .adding("c", "3")
                .adding("A", "1");
        assertEquals(Set.of("a"), turned.namesChangedFrom(BEFORE));
    }
}
