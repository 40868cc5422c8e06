package org.nemorelay.example.audit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.plugin.api.EventSubscriber;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.api.PluginKind;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Deactivate;

/** Writes one JSON line for each model request and tool call that begins: who, what, when, and nothing of the content. */
@PluginKind(value = "example_audit", observer = true, config = "file! string")
@Component(
        service = EventSubscriber.class,
        configurationPid = "example_audit",
        configurationPolicy = ConfigurationPolicy.REQUIRE)
public final class AuditLog implements EventSubscriber {
    private final Writer file;

    @Activate
    public AuditLog(Map<String, Object> properties) {
        PluginConfig config = PluginConfig.of(properties).only("file");
        // One worker for each user, and none may write to another's file.
        Path path = Path.of(config.string("file").replace("{user}", System.getProperty("user.name")));
        try {
            file = Files.newBufferedWriter(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw config.failure("file", "cannot be opened (" + e + "), name one that the worker's user may write; {user} stands for that user");
        }
    }

    @Override
    public void onEvent(Event event) throws IOException {
        String category = event.category().orElse("");
        if (event.kind() != Event.Kind.SCOPE_START || !(category.equals("llm") || category.equals("tool"))) {
            return;
        }
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("time", Event.format(event.timestamp()));
        line.put("what", category);
        line.put("name", event.name());
        line.put("model", event.categoryProfile().optionalString("model_name").orElse(""));
        line.put("agent", event.metadata().optionalString("agent_kind").orElse(""));
        line.put("session", event.metadata().optionalString("session_id").orElse(""));
        file.write(Json.write(line) + "\n");
    }

    /** Called when nobody may lose what was written so far, and before the plugin ends. */
    @Override
    public void flush() throws IOException {
        file.flush();
    }

    @Deactivate
    void close() {
        try {
            file.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
