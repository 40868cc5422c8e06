package org.nemorelay.launcher.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog;
import org.osgi.framework.Bundle;
import org.osgi.service.log.Logger;

class ComponentLogTest {
    private final List<String> failed = new ArrayList<>();
    private boolean starting = true;
    private final List<String> lines = new ArrayList<>();
    private final ComponentLog log = new ComponentLog(new LevelLog(), failure -> {
        failed.add(failure.getMessage());
        return starting;
    });

    @Test
    void aFailureIsOneLineWithItsRoot() {
        Exception thrown = new InvocationTargetException(new IllegalStateException("root"));
        log.getLogger("any").error("does not start", thrown);
        log.getLogger("any").error("does not start {}", "x", thrown);
        log.getLogger("any").warn("careful");
        log.getLogger("any").audit("known");
        assertEquals(
                List.of(
                        "ERROR does not start: java.lang.IllegalStateException: root",
                        "ERROR does not start {}: java.lang.IllegalStateException: root",
                        "WARN careful"),
                lines);
    }

    @Test
    void whatConcernsAPluginIsDetail() {
        Logger ours = log.getLogger(bundle("classpath:a-1.jar"), "any", Logger.class);
        Logger plugins = log.getLogger(bundle("reference:file:/p.jar"), "any", Logger.class);
        ours.error("e");
        plugins.error("e");
        plugins.trace("t");
        assertEquals(List.of("ERROR e", "DEBUG e"), lines);
        assertEquals(false, ours.isDebugEnabled());
        assertEquals(true, ours.isErrorEnabled());
        assertEquals("any", ours.getName());
    }

    @Test
    void whyOneOfOurComponentsCannotStartIsTheRolesFailure() {
        Exception thrown =
                new InvocationTargetException(new RelayException(FailureKind.CONFIGURATION, "X is wrong; unset it"));
        Logger ours = log.getLogger(bundle("classpath:a-1.jar"), "any", Logger.class);
        ours.error("Error during instantiation", thrown);
        log.getLogger(bundle("reference:file:/p.jar"), "any", Logger.class).error("of a plugin", thrown);
        assertEquals(List.of("X is wrong; unset it"), failed);
        starting = false;
        ours.error("later", thrown);
        assertEquals(2, failed.size());
        assertEquals(2, lines.size());
    }

    private static Bundle bundle(String location) {
        return (Bundle) Proxy.newProxyInstance(
                Bundle.class.getClassLoader(), new Class<?>[] {Bundle.class}, (proxy, method, arguments) -> location);
    }

    private final class LevelLog implements EventLog {
        @Override
        public boolean enabled(Level level) {
            return true;
        }

        @Override
        public void log(Level level, String target, String event, String message, Object... fields) {
            lines.add(level + " " + message);
        }

        @Override
        public void flush() {}
    }
}
