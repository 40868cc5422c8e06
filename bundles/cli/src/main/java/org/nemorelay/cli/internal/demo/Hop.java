package org.nemorelay.cli.internal.demo;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One step of the demo, as somebody saw it.
 *
 * @param phase which part of the demo
 * @param from who acts
 * @param to on whom; the same as {@code from} where somebody acts alone
 * @param what what happens
 * @param millis since the phase began
 */
record Hop(String phase, String from, String to, String what, double millis) {
    String route() {
        return from.equals(to) ? from : from + " -> " + to;
    }

    Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("phase", phase);
        json.put("from", from);
        json.put("to", to);
        json.put("what", what);
        json.put("ms", Math.round(millis * 1000) / 1000.0);
        return json;
    }
}
