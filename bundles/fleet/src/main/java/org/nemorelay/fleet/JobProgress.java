package org.nemorelay.fleet;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/** What a job is at ({@code jobs.<id>.progress}); empty text for what it does not say. */
public record JobProgress(String jobId, String status, String message, String traceType, String traceContent) {
    public static JobProgress of(String jobId, String status, String message) {
        return new JobProgress(jobId, status, message, "", "");
    }

    public byte[] encode() {
        Map<String, Object> json = Json.object("job_id", jobId);
        String[] optional = {
            "status", status, "message", message, "trace_type", traceType, "trace_content", traceContent
        };
        for (int i = 0; i < optional.length; i += 2) {
            if (!optional[i + 1].isEmpty()) {
                json.put(optional[i], optional[i + 1]);
            }
        }
        return Json.write(json).getBytes(StandardCharsets.UTF_8);
    }

    /** @throws org.nemorelay.json.JsonException for what is no such event */
    public static JobProgress decode(byte[] body) {
        JsonObject json = Json.parseObject(body);
        return new JobProgress(
                json.string("job_id"),
                json.optionalString("status").orElse(""),
                json.optionalString("message").orElse(""),
                json.optionalString("trace_type").orElse(""),
                json.optionalString("trace_content").orElse(""));
    }
}
