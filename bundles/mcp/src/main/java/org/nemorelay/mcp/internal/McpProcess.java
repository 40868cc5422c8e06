package org.nemorelay.mcp.internal;

import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntConsumer;
import org.nemorelay.identity.ClientTokens;
import org.nemorelay.identity.StateFolder;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.RouteToken;
import org.nemorelay.telemetry.EventLog;

/** One MCP process: the protocol towards the harness, the route towards the daemon, and one end for both. */
public final class McpProcess implements Routing.Host {
    private static final String TARGET = "nemo_relay.daemon.mcp";
    private static final long ANSWER_ON_EXIT_MS = 1_000;

    private final DaemonUrl daemon;
    private final Map<String, String> environment;
    private final String home;
    private final StdioServer server;
    private final PrintStream err;
    private final EventLog log;
    private final IntConsumer exit;

    private volatile Routing routing;
    private volatile Thread reader;

    /**
     * @param home the installed tree that workers are started from
     * @param in should end a blocked read when its reader is interrupted
     * @param exit ends the process with a status, at once; used where {@link #run} cannot return
     */
    public McpProcess(
            DaemonUrl daemon,
            Map<String, String> environment,
            String home,
            InputStream in,
            OutputStream out,
            PrintStream err,
            EventLog log,
            IntConsumer exit) {
        this.daemon = daemon;
        this.environment = environment;
        this.home = home;
        this.server = new StdioServer(in, out);
        this.err = err;
        this.log = log;
        this.exit = exit;
    }

    /** Serves until the input ends or {@link #stop} is called; returns the status to exit with. */
    public int run() {
        reader = Thread.currentThread();
        try {
            Optional<RouteToken> credential = credential();
            if (credential.isEmpty()) {
                server.open();
            } else {
                routing = new Routing(
                        daemon,
                        credential.get(),
                        environment,
                        StateFolder.of(environment).telling(this::wasOpen),
                        new InstalledWorker(home, daemon),
                        log,
                        this);
                Thread thread = new Thread(routing, "nemo-relay-routing");
                thread.setDaemon(true);
                thread.start();
            }
            server.run();
            server.awaitAnswered(ANSWER_ON_EXIT_MS);
            release();
            return 0;
        } catch (RelayException e) {
            tell(e);
            release();
            return 1;
        } catch (InterruptedException e) {
            return 0; // stopped, and released by the one who did
        }
    }

    private Optional<RouteToken> credential() {
        ClientTokens.Resolved resolved = ClientTokens.inEnvironment(environment);
        for (ClientTokens.Skipped skipped : resolved.skipped()) {
            log.log(
                    EventLog.Level.WARN,
                    "nemo_relay.daemon",
                    "route_credential_skipped",
                    skipped.sentence() + "; ignoring it",
                    "reason",
                    skipped.problem().word(),
                    "source",
                    skipped.source().word());
        }
        if (resolved.token().isEmpty()) {
            boolean nobodysWish = !resolved.skipped().isEmpty();
            // Not to have a token is a choice; to have one that cannot be used is not, and the user's plugins do not
            // run.
            log.log(
                    nobodysWish ? EventLog.Level.ERROR : EventLog.Level.WARN,
                    TARGET,
                    "daemon_mcp_pass_through",
                    nobodysWish
                            ? "No usable client credential: " + resolved.reasons()
                                    + "; serving MCP without a daemon route, so no worker and no plugins"
                            : "No NeMo Relay client credential is available; serving MCP without a daemon route",
                    "reason",
                    "missing_credential",
                    "route_mode",
                    "pass_through");
        }
        if (resolved.token().isPresent()) {
            log.log(
                    EventLog.Level.INFO,
                    TARGET,
                    "route_credential_resolved",
                    "The client credential was found",
                    "source",
                    resolved.source().word());
        }
        return resolved.token();
    }

    /** For a signal: gives the route back and makes {@link #run} return. Takes about a second at most. */
    public void stop() {
        release();
        Thread blocked = reader;
        if (blocked != null) {
            blocked.interrupt();
        }
    }

    /** Whoever ends the process first releases; the other one waits until that is done. */
    private synchronized void release() {
        Routing current = routing;
        routing = null;
        if (current != null) {
            current.release();
        }
        log.flush();
    }

    @Override
    public void serve() {
        server.open();
    }

    @Override
    public void fail(RelayException failure) {
        tell(failure);
        exit.accept(1);
    }

    private void tell(RelayException failure) {
        log.log(
                EventLog.Level.ERROR,
                "nemo_relay.cli",
                "command_failed",
                "CLI command failed",
                "command",
                "daemon",
                "error_kind",
                failure.kind().word());
        log.flush();
        err.println("nemo-relay daemon mcp: " + failure.getMessage());
    }

    private void wasOpen(String notice) {
        log.log(EventLog.Level.ERROR, TARGET, "private_file_open", notice, "error_kind", FailureKind.STATE.word());
    }
}
