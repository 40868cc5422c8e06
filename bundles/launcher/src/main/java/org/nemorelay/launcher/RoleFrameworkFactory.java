package org.nemorelay.launcher;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.launcher.internal.RoleFramework;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.ProcessControl;
import org.osgi.framework.BundleException;
import org.osgi.framework.Constants;
import org.osgi.framework.launch.Framework;
import org.osgi.framework.launch.FrameworkFactory;

/**
 * The launch arrangement of a role behind OSGi's own launching interface, so that any OSGi tool can start exactly what
 * ships. {@code init} installs and resolves the role's feature, {@code start} starts it; the process is the caller's.
 *
 * <p>Framework properties: {@value #ROLE} and {@value #HOME} (required), {@value #FLAG_PREFIX}{@code NAME} for each
 * command line option, {@value #ENVIRONMENT_PREFIX}{@code NAME} for each variable of the role's environment. All others
 * go to the framework.
 */
public final class RoleFrameworkFactory implements FrameworkFactory {
    public static final String ROLE = "nemorelay.role";
    public static final String HOME = "nemorelay.home";
    public static final String FLAG_PREFIX = "nemorelay.flag.";
    public static final String ENVIRONMENT_PREFIX = "nemorelay.env.";

    @Override
    public Framework newFramework(Map<String, String> configuration) {
        Map<String, String> flags = new HashMap<>();
        Map<String, String> environment = new HashMap<>();
        Map<String, String> rest = new HashMap<>();
        configuration.forEach((key, value) -> {
            if (key.startsWith(FLAG_PREFIX)) {
                flags.put(key.substring(FLAG_PREFIX.length()), value);
            } else if (key.startsWith(ENVIRONMENT_PREFIX)) {
                environment.put(key.substring(ENVIRONMENT_PREFIX.length()), value);
            } else {
                rest.put(key, value);
            }
        });
        LaunchOptions options = new LaunchOptions(
                required(configuration, ROLE), Path.of(required(configuration, HOME)), flags, environment);
        EventLog log = new SystemLoggerLog();
        RoleFramework role = new RoleFramework(
                options,
                log,
                new LoggedControl(log),
                failure -> false,
                System.getProperty("java.class.path"),
                Path.of(required(configuration, Constants.FRAMEWORK_STORAGE)),
                rest);
        return starting(role);
    }

    private static Framework starting(RoleFramework role) {
        Framework framework = role.framework();
        return (Framework) Proxy.newProxyInstance(
                RoleFrameworkFactory.class.getClassLoader(),
                new Class<?>[] {Framework.class},
                (proxy, method, args) -> {
                    try {
                        boolean plain = args == null || args.length == 0;
                        if (plain && method.getName().equals("init")) {
                            role.install();
                            return null;
                        }
                        if (plain && method.getName().equals("start")) {
                            role.start();
                            return null;
                        }
                        return method.invoke(framework, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    } catch (RelayException e) {
                        throw new BundleException(e.getMessage(), e);
                    }
                });
    }

    private static String required(Map<String, String> configuration, String key) {
        String value = configuration.get(key);
        if (value == null) {
            throw new IllegalArgumentException("framework property " + key + " is missing");
        }
        return value;
    }

    /** The caller owns the process, so the role's wishes about it are only told. */
    private record LoggedControl(EventLog log) implements ProcessControl {
        @Override
        public void ready() {
            log.log(EventLog.Level.INFO, "nemo_relay.launcher", "ready", "the role serves");
        }

        @Override
        public void fail(RelayException failure) {
            log.log(EventLog.Level.ERROR, "nemo_relay.launcher", "start_failed", failure.getMessage());
        }

        @Override
        public void exit(int status) {
            log.log(EventLog.Level.INFO, "nemo_relay.launcher", "exit", "the role ended with status " + status);
        }
    }

    /** Into whatever logging the caller's process has. */
    private static final class SystemLoggerLog implements EventLog {
        @Override
        public boolean enabled(Level level) {
            return System.getLogger("nemo_relay").isLoggable(platform(level));
        }

        @Override
        public void log(Level level, String target, String event, String message, Object... fields) {
            System.getLogger(target)
                    .log(platform(level), event.isEmpty() ? message : event + ": " + message + fieldText(fields));
        }

        @Override
        public void flush() {}

        private static String fieldText(Object... fields) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i + 1 < fields.length; i += 2) {
                text.append(' ').append(fields[i]).append('=').append(fields[i + 1]);
            }
            return text.toString();
        }

        private static System.Logger.Level platform(Level level) {
            return switch (level) {
                case ERROR -> System.Logger.Level.ERROR;
                case WARN -> System.Logger.Level.WARNING;
                case INFO -> System.Logger.Level.INFO;
                case DEBUG -> System.Logger.Level.DEBUG;
                case TRACE -> System.Logger.Level.TRACE;
            };
        }
    }
}
