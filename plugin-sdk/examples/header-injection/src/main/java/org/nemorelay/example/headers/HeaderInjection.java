package org.nemorelay.example.headers;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.nemorelay.plugin.api.HeaderMap.Header;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.api.PluginKind;
import org.nemorelay.plugin.api.RequestIntercept;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;

/** Gives every model request the configured headers. It reads no body, so bodies stream through untouched. */
@PluginKind(
        value = "example_headers",
        config = {"headers[].name! string", "headers[].value! string"})
@Component(
        service = RequestIntercept.class,
        configurationPid = "example_headers",
        configurationPolicy = ConfigurationPolicy.REQUIRE)
public final class HeaderInjection implements RequestIntercept {
    private final List<Header> headers;

    @Activate
    public HeaderInjection(Map<String, Object> properties) {
        PluginConfig config = PluginConfig.of(properties).only("headers");
        List<Header> configured = new ArrayList<>();
        for (PluginConfig table : config.tables("headers")) {
            table.only("name", "value");
            try {
                configured.add(new Header(table.string("name"), table.string("value")));
            } catch (IllegalArgumentException e) {
                throw table.failure("value", "makes no header: " + e.getMessage());
            }
        }
        if (configured.isEmpty()) {
            throw config.failure("headers", "needs at least one [[components.config.headers]] with name and value");
        }
        headers = List.copyOf(configured);
    }

    @Override
    public CompletionStage<ModelRequest> rewrite(ModelRequest request) {
        ModelRequest changed = request;
        for (Header header : headers) {
            changed = changed.withHeader(header.name(), header.value());
        }
        return CompletableFuture.completedStage(changed);
    }
}
