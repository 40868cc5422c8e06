package org.nemorelay.carrier.nats.internal;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.testkit.Await;
import org.nemorelay.testkit.NatsServer;
import org.nemorelay.testkit.Recorder;

/** Carriers configured for one test, as their configuration would. */
final class Links {
    private Links() {}

    /** A configuration with its defaults and these values. */
    static NatsCarrierConfig config(Map<String, Object> values) {
        return (NatsCarrierConfig) java.lang.reflect.Proxy.newProxyInstance(
                NatsCarrierConfig.class.getClassLoader(),
                new Class<?>[] {NatsCarrierConfig.class},
                (proxy, method, arguments) -> values.getOrDefault(method.getName(), method.getDefaultValue()));
    }

    static NatsCarrier open(Map<String, Object> values, Recorder recorder) {
        return NatsRig.carrier(Settings.of(config(values)), recorder);
    }

    static NatsCarrier connected(Map<String, Object> values, Recorder recorder) {
        NatsCarrier carrier = open(values, recorder);
        Await.until("connected; " + recorder.lines(), carrier::connected);
        return carrier;
    }

    static String[] at(NatsServer server) {
        return new String[] {server.url()};
    }

    static Settings plain(String name, NatsServer server) {
        return new Settings(name, List.of(server.url()), true, new Credentials.None(), Optional.empty());
    }
}
