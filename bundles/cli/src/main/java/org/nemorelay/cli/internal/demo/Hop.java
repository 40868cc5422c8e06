package org.nemorelay.cli.internal.demo;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One step of the demo, as somebody saw it.
 *
 * @param phase which part of the demo
 * @param path who has it, in order; a single name where somebody acts alone
 * @param what what is seen at the path's end
 * @param millis when it is seen, since the phase began
 */
record Hop(String phase, List<String> path, String what, double millis) {
    String route() {
        return String.join(" -> ", path);
    }

    Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("phase", phase);
        json.put("path", path);
        json.put("what", what);
        json.put("ms", Math.round(millis * 1000) / 1000.0);
        return json;
    }
}
