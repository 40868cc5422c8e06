package org.nemorelay.workerctl;

import java.util.List;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** The one form of the answers to what stops a backend's processes. */
interface StoppedReply extends WireRecord {
    boolean success();

    String error();

    List<String> stoppedProcessKeys();

    boolean reportsStoppedProcesses();

    @Override
    default Map<String, Object> toJson() {
        return new FieldWriter()
                .put("success", success())
                .nonEmpty("error", error())
                .strings("stopped_process_keys", stoppedProcessKeys())
                .nonEmpty("reports_stopped_processes", reportsStoppedProcesses())
                .done();
    }

    /** The constructor of one of them. */
    interface Maker<R> {
        R of(boolean success, String error, List<String> stoppedProcessKeys, boolean reportsStoppedProcesses);
    }

    static <R> R decode(byte[] body, Maker<R> maker) {
        FieldReader in = new FieldReader(Json.parseObject(body));
        return maker.of(
                in.bool("success"),
                in.string("error"),
                in.strings("stopped_process_keys"),
                in.bool("reports_stopped_processes"));
    }
}
