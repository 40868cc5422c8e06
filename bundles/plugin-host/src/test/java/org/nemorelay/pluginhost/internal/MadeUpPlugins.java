package org.nemorelay.pluginhost.internal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.plugin.api.EventSubscriber;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.api.PluginConfigException;
import org.nemorelay.plugin.api.ToolCall;

/** Plugins of several tests. A jar has the class of its plugin and those that it extends: other code they do not share. */
final class MadeUpPlugins {
    private MadeUpPlugins() {}

    /** Denies with the reason that it is configured with. */
    public static final class Denying implements HookPolicy {
        private final String reason;

        public Denying(Map<String, Object> properties) {
            reason = PluginConfig.of(properties).string("reason");
            if (reason.equals("bad")) {
                throw new PluginConfigException("reason", "must not be bad, write another");
            }
        }

        @Override
        public CompletionStage<Decision> decide(ToolCall call) {
            return CompletableFuture.completedStage(Decision.deny(reason));
        }
    }

    /** Denies in capital letters. */
    public static final class DenyingLoudly implements HookPolicy {
        private final String reason;

        public DenyingLoudly(Map<String, Object> properties) {
            reason = PluginConfig.of(properties).string("reason").toUpperCase(Locale.ROOT);
        }

        @Override
        public CompletionStage<Decision> decide(ToolCall call) {
            return CompletableFuture.completedStage(Decision.deny(reason));
        }
    }

    /** Does not start. */
    public static final class Failing extends Allowing {
        public Failing(Map<String, Object> properties) {
            throw new IllegalStateException("not this one");
        }
    }

    /** Never starts, and does not heed an interrupt. */
    public static final class Blocking extends Allowing {
        public Blocking(Map<String, Object> properties) {
            while (true) {
                LockSupport.parkNanos(1_000_000_000);
                Thread.interrupted();
            }
        }
    }

    /** Comes back from no call, whatever happens, before a file is there. */
    public static final class Stuck implements HookPolicy {
        private final Path file;

        public Stuck(Map<String, Object> properties) {
            file = Path.of(PluginConfig.of(properties).string("file"));
        }

        @Override
        public CompletionStage<Decision> decide(ToolCall call) {
            while (!Files.exists(file)) {
                LockSupport.parkNanos(1_000_000);
                Thread.interrupted();
            }
            return CompletableFuture.completedStage(Decision.allow());
        }
    }

    /** Starts when a file is there. */
    public static final class Waiting implements HookPolicy {
        public Waiting(Map<String, Object> properties) {
            Path file = Path.of(PluginConfig.of(properties).string("file"));
            while (!Files.exists(file)) {
                LockSupport.parkNanos(1_000_000);
                Thread.interrupted();
            }
        }

        @Override
        public CompletionStage<Decision> decide(ToolCall call) {
            return CompletableFuture.completedStage(Decision.deny("late"));
        }
    }

    /** Does not end before a file is there, whatever happens. */
    public static final class Lingering extends Allowing implements AutoCloseable {
        private final Path file;

        public Lingering(Map<String, Object> properties) {
            file = Path.of(PluginConfig.of(properties).string("file"));
        }

        @Override
        public void close() {
            while (!Files.exists(file)) {
                LockSupport.parkNanos(1_000_000);
                Thread.interrupted();
            }
        }
    }

    /** Appends names to a file; the plugin's classes are loaded apart from the test's. */
    public static final class Appending implements EventSubscriber {
        private final Path file;

        public Appending(Map<String, Object> properties) {
            file = Path.of(PluginConfig.of(properties).only("file").string("file"));
        }

        @Override
        public void onEvent(Event event) throws IOException {
            append(event.name());
        }

        @Override
        public void flush() throws IOException {
            append("flush");
        }

        private void append(String line) throws IOException {
            Files.writeString(file, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
    }
}
