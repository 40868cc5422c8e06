package ${package};

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.nemorelay.plugin.api.HeaderMap;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.api.PluginKind;
import org.nemorelay.plugin.api.RequestIntercept;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;

/** Gives every model request a header with a configured value. */
@PluginKind(value = "${kind}", config = {"header string", "value! string"})
@Component(
        service = RequestIntercept.class,
        configurationPid = "${kind}",
        configurationPolicy = ConfigurationPolicy.REQUIRE)
public final class HeaderPlugin implements RequestIntercept {
    private final HeaderMap.Header header;

    /** Every failure about the configuration reaches the administrator with file, line and key. */
    @Activate
    public HeaderPlugin(Map<String, Object> properties) {
        PluginConfig config = PluginConfig.of(properties).only("header", "value");
        try {
            header = new HeaderMap.Header(config.string("header", "x-team"), config.string("value"));
        } catch (IllegalArgumentException e) {
            throw config.failure("value", "makes no header: " + e.getMessage());
        }
        if (header.value().isBlank()) {
            throw config.failure("value", "must not be blank");
        }
    }

    @Override
    public CompletionStage<ModelRequest> rewrite(ModelRequest request) {
        return CompletableFuture.completedStage(request.withHeader(header.name(), header.value()));
    }
}
