package org.nemorelay.launcher.internal;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Locale;
import java.util.function.Predicate;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;
import org.osgi.framework.Bundle;
import org.osgi.service.log.Logger;
import org.osgi.service.log.LoggerFactory;

/**
 * Where Declarative Services logs (Compendium R8, 101): one line for each of its messages, where it would otherwise write
 * stack traces to standard error. What keeps one of the relay's own components from starting is the role's failure, not a
 * line of the log. What it says of a bundle that is not the relay's own is detail: who installed that
 * bundle reports its failure.
 */
final class ComponentLog implements LoggerFactory {
    private static final String TARGET = "org.apache.felix.scr";

    private final EventLog log;
    private final Predicate<RelayException> startFails;

    /** @param startFails takes why a component of the relay cannot start; false where that is no end of the start */
    ComponentLog(EventLog log, Predicate<RelayException> startFails) {
        this.log = log;
        this.startFails = startFails;
    }

    @Override
    public Logger getLogger(String name) {
        return logger(name, Logger.class, Level.ERROR);
    }

    @Override
    public Logger getLogger(Class<?> type) {
        return getLogger(type.getName());
    }

    @Override
    public <L extends Logger> L getLogger(String name, Class<L> loggerType) {
        return logger(name, loggerType, Level.ERROR);
    }

    @Override
    public <L extends Logger> L getLogger(Class<?> type, Class<L> loggerType) {
        return getLogger(type.getName(), loggerType);
    }

    @Override
    public <L extends Logger> L getLogger(Bundle bundle, String name, Class<L> loggerType) {
        return logger(name, loggerType, ClassPathBundles.holds(bundle) ? Level.ERROR : Level.DEBUG);
    }

    private <L extends Logger> L logger(String name, Class<L> type, Level severest) {
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, new Calls(name, severest)));
    }

    /** Every method of a logger is named for its level, or asks for it. */
    private final class Calls implements InvocationHandler {
        private final String name;
        private final Level severest;

        Calls(String name, Level severest) {
            this.name = name;
            this.severest = severest;
        }

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) {
            String call = method.getName();
            if (call.startsWith("is")) {
                String word = call.substring(2, call.length() - "Enabled".length());
                return spoken(word) && log.enabled(level(word));
            }
            return switch (call) {
                case "getName", "toString" -> name;
                case "hashCode" -> System.identityHashCode(proxy);
                case "equals" -> proxy == arguments[0];
                default -> {
                    if (spoken(call) && arguments[0] instanceof String message) {
                        write(level(call), message, arguments);
                    }
                    yield null;
                }
            };
        }

        /** From warning on; below that the runtime tells what it does, configurations with their secrets among it. */
        private static boolean spoken(String word) {
            return word.equalsIgnoreCase("error") || word.equalsIgnoreCase("warn");
        }

        private Level level(String word) {
            Level level = Level.valueOf(word.toUpperCase(Locale.ROOT));
            return level.compareTo(severest) < 0 ? severest : level;
        }

        private void write(Level level, String message, Object[] arguments) {
            Object last = arguments[arguments.length - 1];
            if (last instanceof Object[] more && more.length > 0) {
                last = more[more.length - 1];
            }
            if (severest == Level.ERROR
                    && last instanceof Throwable thrown
                    && root(thrown) instanceof RelayException failure
                    && startFails.test(failure)) {
                return;
            }
            log.log(level, TARGET, "", last instanceof Throwable thrown ? message + ": " + root(thrown) : message);
        }

        private static Throwable root(Throwable thrown) {
            Throwable root = thrown;
            while (root.getCause() != null && root.getCause() != root) {
                root = root.getCause();
            }
            return root;
        }
    }
}
