package org.nemorelay.fleet;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/**
 * A task or CI job on its queue (distributed-seams 3.3), with what the worker needs of the tables; {@code job}, {@code task}
 * and {@code modelConfig} are the tables' records as they are.
 */
public record JobEvent(
        String jobId,
        String taskId,
        String userId,
        Optional<JsonObject> job,
        Optional<JsonObject> task,
        Optional<JsonObject> modelConfig) {
    public byte[] encode() {
        Map<String, Object> json = Json.object("job_id", jobId, "task_id", taskId, "user_id", userId);
        job.ifPresent(record -> json.put("job", record));
        task.ifPresent(record -> json.put("task", record));
        modelConfig.ifPresent(record -> json.put("model_config", record));
        return Json.write(json).getBytes(StandardCharsets.UTF_8);
    }

    /** @throws org.nemorelay.json.JsonException for what is no such event */
    public static JobEvent decode(byte[] body) {
        JsonObject json = Json.parseObject(body);
        return new JobEvent(
                json.string("job_id"),
                json.optionalString("task_id").orElse(""),
                json.optionalString("user_id").orElse(""),
                json.optionalObject("job"),
                json.optionalObject("task"),
                json.optionalObject("model_config"));
    }
}
