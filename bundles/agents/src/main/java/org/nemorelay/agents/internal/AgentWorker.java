package org.nemorelay.agents.internal;

import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.nemorelay.agents.internal.mcp.McpSessions;
import org.nemorelay.fleet.FrontendClient;
import org.nemorelay.fleet.Membership;
import org.nemorelay.fleet.TokenFile;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.seams.Broadcaster;
import org.nemorelay.seams.CancelRegistry;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Message;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.Subscription;
import org.nemorelay.seams.WorkConsumer;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.control.AgentRpcServer;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;
import org.nemorelay.telemetry.ProcessControl;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.metatype.annotations.Designate;

/** The agent worker role, for as long as the component is active. It knows no transport (seed, open item 5). */
@Component(
        service = {},
        immediate = true,
        configurationPid = AgentWorkerConfig.PID,
        configurationPolicy = ConfigurationPolicy.REQUIRE)
@Designate(ocd = AgentWorkerConfig.class)
public final class AgentWorker {
    private static final String TARGET = "nemo_relay.agents";
    /** CI jobs run one after the other, in the order of their delivery. */
    private static final int MCP_CI_LIMIT = 1;

    private final EventLog log;
    private final ProcessControl process;
    private final AgentRpcServer server;
    private final McpSessions mcp;
    private final CancelRegistry cancels = new CancelRegistry();
    private final List<Subscription> work = new ArrayList<>();
    private Optional<Membership> membership = Optional.empty();
    private Optional<Registration> rpc = Optional.empty();
    private String servedAs = "";

    @Activate
    public AgentWorker(
            AgentWorkerConfig config,
            @Reference EventLog log,
            @Reference ProcessControl process,
            @Reference Broadcaster events,
            @Reference WorkConsumer consumer,
            @Reference AgentRpcServer server) {
        this.log = log;
        this.process = process;
        this.server = server;
        this.mcp = new McpSessions(List.of(config.mcp__commands()), List.of(config.mcp__urls()));
        try {
            Duration limit = Duration.ofSeconds(config.job__timeout__secs());
            String key = TokenFile.read("[agent_worker] api_key_file", config.api__key__file());
            String token = TokenFile.read("[distributed] registration_token_file", config.registration__token__file());
            take(config, new FrontendChat(new FrontendClient(config.frontend(), key), limit), limit, events, consumer);
            membership = Optional.of(new Membership(
                    new FrontendClient(config.frontend(), token),
                    Json.object("name", config.name(), "node_type", "agent", "address", host()),
                    Duration.ofMillis(config.heartbeat__ms()),
                    log,
                    this::registered,
                    process::fail));
        } catch (SeamException e) {
            process.fail(new RelayException(
                    FailureKind.CONFIGURATION, "this agent worker cannot take work: " + e.getMessage()));
        } catch (RelayException e) {
            process.fail(e);
        }
    }

    /** The consumers, with the model given, for tests. */
    AgentWorker(
            AgentWorkerConfig config,
            Chat chat,
            EventLog log,
            ProcessControl process,
            Broadcaster events,
            WorkConsumer consumer,
            AgentRpcServer server) {
        this.log = log;
        this.process = process;
        this.server = server;
        this.mcp = new McpSessions(List.of(config.mcp__commands()), List.of(config.mcp__urls()));
        take(config, chat, Duration.ofSeconds(config.job__timeout__secs()), events, consumer);
    }

    private static String host() {
        return InetAddress.getLoopbackAddress().getHostName();
    }

    private void take(AgentWorkerConfig config, Chat chat, Duration limit, Broadcaster events, WorkConsumer consumer) {
        Context forEver = Context.background();
        work.add(events.subscribe("agent.*.cancel", this::cancel));
        work.add(events.subscribe("jobs.*.cancel", this::cancel));
        work.add(consumer.consume(
                forEver, WorkKind.MCP_CI, MCP_CI_LIMIT, new JobRunner(chat, Optional.of(mcp), limit, cancels, log)));
        work.add(consumer.consume(
                forEver,
                WorkKind.TASK,
                config.max__tasks(),
                new JobRunner(chat, Optional.empty(), limit, cancels, log)));
        work.add(consumer.consume(
                forEver, WorkKind.AGENT_RUN, config.max__agent__runs(), new AgentRunner(chat, limit, cancels, log)));
    }

    /** By message id for agent runs, by job id for jobs; an empty one is nobody's. */
    private void cancel(Message message) {
        try {
            var json = Json.parseObject(message.body());
            String id = json.optionalString("message_id")
                    .or(() -> json.optionalString("job_id"))
                    .orElse("");
            if (!id.isEmpty()) {
                cancels.cancel(id);
            }
        } catch (JsonException e) {
            log.log(
                    Level.WARN,
                    TARGET,
                    "cancel_undecodable",
                    "Skipped a cancel that is not understood: " + e.getMessage());
        }
    }

    private synchronized void registered(String nodeId) {
        try {
            if (!servedAs.equals(nodeId)) {
                rpc.ifPresent(Registration::close);
                rpc = Optional.of(server.serve(nodeId, new AgentCalls(mcp)));
                servedAs = nodeId;
            }
            log.log(Level.INFO, TARGET, "agent_worker_serving", "Agent worker is serving", "node_id", nodeId);
            process.ready();
        } catch (SeamException e) {
            process.fail(new RelayException(
                    FailureKind.CONFIGURATION, "this agent worker cannot serve agent calls: " + e.getMessage()));
        }
    }

    @Deactivate
    void deactivate() {
        membership.ifPresent(Membership::close);
        mcp.closeModel("");
        work.forEach(Subscription::unsubscribe);
        synchronized (this) {
            rpc.ifPresent(Registration::close);
        }
    }
}
