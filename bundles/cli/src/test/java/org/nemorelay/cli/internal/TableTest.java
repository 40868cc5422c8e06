package org.nemorelay.cli.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class TableTest {
    @Test
    void columnsAreAlignedWithoutTrailingBlanks() {
        StringBuilder out = new StringBuilder();
        new Table(List.of(List.of("a", "bbb", "c"), List.of("aaaa", "b", ""))).append(out);
        assertEquals("a     bbb  c\naaaa  b\n", out.toString());
    }
}
