package org.nemorelay.agents.internal;

import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;

/** {@code [agent_worker]}. */
@ObjectClassDefinition(name = "Agent worker of a fleet")
public @interface AgentWorkerConfig {
    String PID = "org.nemorelay.agents";

    @AttributeDefinition(description = "The worker's name, unique in the fleet.")
    String name();

    @AttributeDefinition(description = "URL of the frontend to register at and to ask for models.")
    String frontend();

    @AttributeDefinition(description = "File with the token to register with; empty for none.")
    String registration__token__file();

    @AttributeDefinition(description = "File with the key for the frontend's model endpoints; empty for none.")
    String api__key__file();

    @AttributeDefinition(description = "Agent runs at a time; 0 for any number.")
    int max__agent__runs();

    @AttributeDefinition(description = "Tasks at a time; 0 for any number.")
    int max__tasks();

    @AttributeDefinition(description = "Programs that may be started as MCP servers.")
    String[] mcp__commands();

    @AttributeDefinition(description = "What URLs of MCP servers may begin with.")
    String[] mcp__urls();

    @AttributeDefinition(description = "Seconds that a job may take.")
    long job__timeout__secs();

    @AttributeDefinition(description = "Milliseconds between two heartbeats.")
    long heartbeat__ms();
}
