package org.nemorelay.protocol.control;

import java.util.OptionalInt;

/** The control protocol versions that a component speaks, both ends included (relay-daemon 3.3). */
public record ProtocolRange(int minimum, int maximum) {
    /** What this build speaks. */
    public static final ProtocolRange CURRENT = new ProtocolRange(1, 1);

    /** Whether the range means anything: 1..65535, in order. */
    public boolean valid() {
        return minimum >= 1 && minimum <= maximum && maximum <= 0xffff;
    }

    /** The highest version both ranges hold. */
    public OptionalInt highestCommon(ProtocolRange other) {
        int highest = Math.min(maximum, other.maximum);
        return highest >= Math.max(minimum, other.minimum) ? OptionalInt.of(highest) : OptionalInt.empty();
    }
}
