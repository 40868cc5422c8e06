package org.nemorelay.fleet.internal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Dictionary;
import java.util.Hashtable;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.nemorelay.admin.AdminVerb;
import org.nemorelay.carriers.Carriers;
import org.nemorelay.json.Json;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;

/** {@code carriers.list}, {@code carriers.status} and {@code carriers.use} on the control socket of a process of a fleet. */
@Component(
        service = {},
        immediate = true)
public final class CarrierVerbs {
    /** Below the client's own patience, so that its user hears what is going on. */
    private static final Duration SWITCH = Duration.ofSeconds(25);

    private final List<ServiceRegistration<AdminVerb>> verbs = new ArrayList<>();

    @Activate
    public CarrierVerbs(BundleContext context, @Reference Carriers carriers) {
        verb(context, "carriers.list", arguments -> Json.object("carriers", list(carriers.status())));
        verb(context, "carriers.status", arguments -> status(carriers.status()));
        verb(context, "carriers.use", arguments -> {
            if (!(arguments.get("name") instanceof String name) || name.isEmpty()) {
                throw new RelayException(FailureKind.INVALID_ARGUMENT, "carriers.use needs the name of a carrier");
            }
            carriers.use(name, SWITCH);
            return status(carriers.status());
        });
    }

    private record Verb(String name, Function<Map<String, Object>, Map<String, Object>> work) implements AdminVerb {
        @Override
        public Map<String, Object> run(Map<String, Object> arguments) {
            return work.apply(arguments);
        }
    }

    private void verb(BundleContext context, String name, Function<Map<String, Object>, Map<String, Object>> work) {
        Dictionary<String, Object> none = new Hashtable<>();
        verbs.add(context.registerService(AdminVerb.class, new Verb(name, work), none));
    }

    private static List<Object> list(Carriers.Status status) {
        List<Object> list = new ArrayList<>();
        for (Carriers.Present present : status.present()) {
            list.add(Json.object(
                    "name",
                    present.name(),
                    "current",
                    status.current().filter(present.name()::equals).isPresent(),
                    "connected",
                    present.connected(),
                    "seams",
                    present.seams().stream()
                            .map(seam -> seam.name().toLowerCase(Locale.ROOT))
                            .toList()));
        }
        return list;
    }

    private static Map<String, Object> status(Carriers.Status status) {
        return Json.object(
                "wanted",
                status.wanted(),
                "current",
                status.current().orElse(null),
                "switches",
                status.switches(),
                "retiring",
                status.retiring(),
                "failure",
                status.failure().orElse(null),
                "carriers",
                list(status));
    }

    @Deactivate
    void deactivate() {
        verbs.forEach(ServiceRegistration::unregister);
    }
}
