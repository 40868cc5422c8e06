package org.nemorelay.pluginhost.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.nemorelay.plugin.api.EventSubscriber;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.protocol.Reasons;
import org.osgi.framework.Bundle;
import org.osgi.framework.Constants;
import org.osgi.framework.dto.ServiceReferenceDTO;
import org.osgi.service.component.runtime.ServiceComponentRuntime;
import org.osgi.service.component.runtime.dto.ComponentConfigurationDTO;
import org.osgi.service.component.runtime.dto.ComponentDescriptionDTO;

/** What the component runtime says about the component of a plugin kind. */
final class ComponentStates {
    private static final Set<String> USED = Set.of(EventSubscriber.class.getName(), HookPolicy.class.getName());

    private final ServiceComponentRuntime runtime;

    ComponentStates(ServiceComponentRuntime runtime) {
        this.runtime = runtime;
    }

    sealed interface ComponentState {}

    /** The configuration has not arrived, a reference is missing, or activation goes on. */
    record Pending() implements ComponentState {}

    record Active() implements ComponentState {}

    /** No component of the bundle takes the kind's configuration. */
    record Absent() implements ComponentState {}

    record Failed(String stackTrace) implements ComponentState {}

    ComponentState of(Bundle bundle, String kind) {
        List<ComponentDescriptionDTO> descriptions = descriptions(bundle, kind);
        if (descriptions.isEmpty()) {
            return new Absent();
        }
        boolean active = true;
        for (ComponentDescriptionDTO description : descriptions) {
            List<ComponentConfigurationDTO> configurations = configurations(description, kind);
            active &= !configurations.isEmpty();
            for (ComponentConfigurationDTO configuration : configurations) {
                if (configuration.state == ComponentConfigurationDTO.FAILED_ACTIVATION) {
                    return new Failed(String.valueOf(configuration.failure));
                }
                active &= active(configuration);
            }
        }
        return active ? new Active() : new Pending();
    }

    /** What keeps a pending component from activation, as the end of a sentence; empty where nothing is known. */
    String waitingFor(Bundle bundle, String kind) {
        List<String> references = new ArrayList<>();
        for (ComponentDescriptionDTO description : descriptions(bundle, kind)) {
            for (ComponentConfigurationDTO configuration : configurations(description, kind)) {
                for (var reference : configuration.unsatisfiedReferences) {
                    references.add(Reasons.said(reference.name));
                }
            }
        }
        return references.isEmpty() ? "" : "; it waits for its reference " + String.join(", ", references);
    }

    private List<ComponentDescriptionDTO> descriptions(Bundle bundle, String kind) {
        return runtime.getComponentDescriptionDTOs(bundle).stream()
                .filter(description -> List.of(description.configurationPid).contains(kind))
                .toList();
    }

    private List<ComponentConfigurationDTO> configurations(ComponentDescriptionDTO description, String kind) {
        return runtime.getComponentConfigurationDTOs(description).stream()
                .filter(configuration -> kind.equals(configuration.properties.get(PluginHostComponent.KIND_PROPERTY)))
                .toList();
    }

    /** A service that the host uses is activated by that use; any other component by nobody so far. */
    private static boolean active(ComponentConfigurationDTO configuration) {
        return configuration.state == ComponentConfigurationDTO.ACTIVE
                || (configuration.state == ComponentConfigurationDTO.SATISFIED && !used(configuration.service));
    }

    private static boolean used(ServiceReferenceDTO service) {
        return service != null
                && service.properties.get(Constants.OBJECTCLASS) instanceof String[] names
                && List.of(names).stream().anyMatch(USED::contains);
    }
}
