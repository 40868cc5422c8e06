package org.nemorelay.agents.internal.mcp;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.nemorelay.agents.internal.mcp.McpServers.Server;
import org.nemorelay.seams.Context;

/**
 * Opens sessions, each for one call or job. Who may put something into a queue names servers, so only those are used that
 * this worker's administrator allows. Safe for any thread.
 */
public final class McpSessions {
    private final List<String> commands;
    private final List<String> urls;
    private final Set<Opened> open = ConcurrentHashMap.newKeySet();

    /**
     * @param commands programs that may be started, as they are named
     * @param urls what URLs of servers may begin with
     */
    public McpSessions(List<String> commands, List<String> urls) {
        this.commands = List.copyOf(commands);
        this.urls = List.copyOf(urls);
    }

    /** The sessions of one call or job, in the order of their servers. */
    public final class Opened implements AutoCloseable {
        private final String model;
        private final List<McpSession> sessions = new ArrayList<>();
        private boolean closed;

        private Opened(String model) {
            this.model = model;
        }

        public synchronized List<McpSession> sessions() {
            return List.copyOf(sessions);
        }

        private synchronized boolean add(McpSession session) {
            return !closed && sessions.add(session);
        }

        @Override
        public void close() {
            List<McpSession> all;
            synchronized (this) {
                closed = true;
                all = List.copyOf(sessions);
                sessions.clear();
            }
            open.remove(this);
            all.forEach(McpSession::close);
        }
    }

    /** Sessions with all servers, or none. */
    public Opened open(Context context, String model, McpServers servers) throws McpException {
        Opened opened = new Opened(model);
        open.add(opened);
        try {
            for (Map.Entry<String, Server> server : servers.servers().entrySet()) {
                McpSession session = session(context, server.getKey(), server.getValue());
                if (!opened.add(session)) {
                    session.close();
                    throw new McpException("the model was stopped");
                }
            }
            return opened;
        } catch (McpException | RuntimeException e) {
            opened.close();
            throw e;
        }
    }

    private McpSession session(Context context, String name, Server server) throws McpException {
        McpLink link = switch (server) {
            case Server.Remote remote -> {
                if (urls.stream().noneMatch(remote.url().toString()::startsWith)) {
                    throw new McpException("MCP server " + name + ": "
                            + remote.url().getHost() + " is not allowed, add its URL to [agent_worker] mcp_urls");
                }
                yield new HttpLink(name, remote.url(), remote.token());
            }
            case Server.Stdio stdio -> {
                if (!commands.contains(stdio.command().getFirst())) {
                    throw new McpException("MCP server " + name + ": program "
                            + stdio.command().getFirst()
                            + " is not allowed, add it to [agent_worker] mcp_commands");
                }
                yield new StdioLink(name, stdio.command(), stdio.environment());
            }
        };
        return McpSession.open(context, name, link);
    }

    /** Ends the sessions of a model; what runs on them fails. Empty text for those of all models. */
    public void closeModel(String model) {
        open.stream()
                .filter(opened -> model.isEmpty() || opened.model.equals(model))
                .forEach(Opened::close);
    }
}
