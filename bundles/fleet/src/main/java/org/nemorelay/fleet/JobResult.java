package org.nemorelay.fleet;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/** How a job ended ({@code jobs.<id>.result}): completed, failed or cancelled. */
public record JobResult(String jobId, String status, String result, String error) {
    public static final String COMPLETED = "completed";
    public static final String FAILED = "failed";
    public static final String CANCELLED = "cancelled";

    public byte[] encode() {
        Map<String, Object> json = Json.object("job_id", jobId, "status", status);
        if (!result.isEmpty()) {
            json.put("result", result);
        }
        if (!error.isEmpty()) {
            json.put("error", error);
        }
        return Json.write(json).getBytes(StandardCharsets.UTF_8);
    }

    /** @throws org.nemorelay.json.JsonException for what is no such event */
    public static JobResult decode(byte[] body) {
        JsonObject json = Json.parseObject(body);
        return new JobResult(
                json.string("job_id"),
                json.string("status"),
                json.optionalString("result").orElse(""),
                json.optionalString("error").orElse(""));
    }
}
