package org.nemorelay.worker.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.control.ClientCommand;
import org.nemorelay.protocol.control.CommandFrame;
import org.nemorelay.protocol.control.FrameCodec;
import org.nemorelay.protocol.control.PluginReport;
import org.nemorelay.protocol.control.Secret;
import org.nemorelay.protocol.control.SessionPayload;
import org.nemorelay.protocol.control.SessionRequest;
import org.nemorelay.protocol.control.SettingReport;

/** A report fits into one control frame, whatever plugins and settings there are: the daemon ends a connection over a larger one. */
class ReportTest {
    private static final PluginReport PLUGIN = new PluginReport("k", "1", "active", "f", "", "required");

    @Test
    void allOfItWhereThereIsRoom() {
        List<SettingReport> settings = List.of(new SettingReport("k.a", "1", "plugins.toml:1:1"));
        Report report = Report.of(List.of(PLUGIN), settings);
        assertTrue(report.whole());
        assertEquals(List.of(PLUGIN), report.plugins());
        assertEquals(settings, report.settings());
        assertTrue(frame(report) < 1_000);
    }

    /** Fewer than 100,000 characters, and more bytes than a frame holds. */
    @Test
    void noSettingsWhereTheyAreTooMany() {
        Report report =
                Report.of(List.of(PLUGIN), List.of(new SettingReport("k.a", "\"" + "あ".repeat(90_000) + "\"", "x")));
        assertFalse(report.whole());
        assertEquals(List.of(PLUGIN), report.plugins());
        assertEquals(List.of(), report.settings());
        assertTrue(frame(report) <= FrameCodec.MAX_FRAME);
    }

    @Test
    void aReasonWithoutEndIsCut() {
        Report report = Report.of(
                List.of(new PluginReport("k", "1", "quarantined", "f", "\u0001".repeat(300_000), "optional"), PLUGIN),
                List.of());
        assertEquals(2, report.plugins().size());
        assertTrue(report.plugins().getFirst().reason().endsWith("…"));
        assertTrue(frame(report) <= FrameCodec.MAX_FRAME);
    }

    @Test
    void whatIsPlannedGoesBeforeWhatIsNoPlugin() {
        List<PluginReport> all = new ArrayList<>(IntStream.range(0, 5_000)
                .mapToObj(
                        i -> new PluginReport("", "", "idle", "/etc/nemo-relay/plugins/é" + i, "no jar".repeat(60), ""))
                .toList());
        all.add(new PluginReport("k".repeat(300_000), "1", "active", "f", "", "required"));
        all.add(PLUGIN);
        Report report = Report.of(all, List.of());
        assertEquals(PLUGIN, report.plugins().getFirst());
        int kept = report.plugins().size() - 1;
        assertTrue(kept > 400, () -> kept + " lines are kept");
        assertTrue(
                report.plugins().getLast().reason().startsWith((5_002 - kept) + " more lines are not told"),
                report.plugins().getLast()::toString);
        assertTrue(frame(report) <= FrameCodec.MAX_FRAME);
    }

    private static int frame(Report report) {
        SessionPayload payload = new SessionPayload.ReportPlugins(report.plugins(), report.settings());
        String id = "x".repeat(128);
        return FrameCodec.encode(new CommandFrame(
                        id,
                        new ClientCommand.Session(
                                SessionRequest.of(id, new Secret("x".repeat(128)), id, Long.MAX_VALUE, payload))))
                .getBytes(StandardCharsets.UTF_8)
                .length;
    }
}
