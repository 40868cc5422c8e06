package org.nemorelay.worker.internal;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.nemorelay.json.Json;
import org.nemorelay.protocol.control.FrameCodec;
import org.nemorelay.protocol.control.PluginReport;
import org.nemorelay.protocol.control.SessionPayload;
import org.nemorelay.protocol.control.SettingReport;

/**
 * What a worker tells its daemon of its plugins and settings, in one control frame: a larger one would end the connection.
 *
 * @param settings none where there is no room for all of them
 * @param bytes what the whole would have taken
 */
record Report(List<PluginReport> plugins, List<SettingReport> settings, int bytes) {
    /** Beside what surrounds them in the frame. */
    static final int MAX_BYTES = FrameCodec.MAX_FRAME - 8_192;

    private static final int MAX_REASON = 300;

    /** Of one that says what is left out. */
    private static final int LAST_LINE = 1_024;

    static Report of(List<PluginReport> plugins, List<SettingReport> settings) {
        int bytes = bytes(plugins, settings);
        if (bytes <= MAX_BYTES) {
            return new Report(plugins, settings, bytes);
        }
        return new Report(bytes(plugins, List.of()) <= MAX_BYTES ? plugins : shortened(plugins), List.of(), bytes);
    }

    boolean whole() {
        return bytes <= MAX_BYTES;
    }

    /** What is planned first, and what is no plugin last. */
    private static List<PluginReport> shortened(List<PluginReport> plugins) {
        List<PluginReport> sorted = new ArrayList<>(plugins);
        sorted.sort(Comparator.comparingInt(
                one -> one.kind().isEmpty() ? 2 : one.planned().equals("no") ? 1 : 0));
        List<PluginReport> kept = new ArrayList<>();
        int bytes = bytes(kept, List.of()) + LAST_LINE;
        for (PluginReport one : sorted) {
            PluginReport brief = new PluginReport(
                    one.kind(),
                    one.version(),
                    one.state(),
                    one.file(),
                    brief(one.reason()),
                    one.planned(),
                    one.outdated());
            int more = bytes(List.of(brief), List.of());
            if (bytes + more <= MAX_BYTES) {
                bytes += more;
                kept.add(brief);
            }
        }
        if (kept.size() < sorted.size()) {
            kept.add(new PluginReport(
                    "",
                    "",
                    "idle",
                    "",
                    (sorted.size() - kept.size())
                            + " more lines are not told, as they are more than a worker's report holds; clear out the plugin"
                            + " folder, or ask with `nemo-relay plugins list` without a running daemon",
                    ""));
        }
        return List.copyOf(kept);
    }

    private static String brief(String reason) {
        return reason.length() <= MAX_REASON ? reason : reason.substring(0, MAX_REASON) + "…";
    }

    private static int bytes(List<PluginReport> plugins, List<SettingReport> settings) {
        return Json.write(new SessionPayload.ReportPlugins(plugins, settings).json())
                .getBytes(StandardCharsets.UTF_8)
                .length;
    }
}
