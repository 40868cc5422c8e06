package ${package};

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
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
    private final String name;
    private final String value;

    /** Every failure about the configuration reaches the administrator with file, line and key. */
    @Activate
    public HeaderPlugin(Map<String, Object> properties) {
        PluginConfig config = PluginConfig.of(properties).only("header", "value");
        name = config.string("header", "x-team");
        value = config.string("value");
        if (value.isBlank()) {
            throw config.failure("value", "must not be blank");
        }
    }

    @Override
    public CompletionStage<ModelRequest> rewrite(ModelRequest request) {
        return CompletableFuture.completedStage(request.withHeader(name, value));
    }
}
