package org.nemorelay.node.internal;

import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;

/** {@code [node]}. */
@ObjectClassDefinition(name = "Node of a fleet")
public @interface NodeConfig {
    String PID = "org.nemorelay.node";

    @AttributeDefinition(description = "The node's name, unique in the fleet.")
    String name();

    @AttributeDefinition(description = "URL of the frontend to register at.")
    String frontend();

    @AttributeDefinition(description = "Address that backends and the file server listen on.")
    String bind();

    @AttributeDefinition(description = "Host under which frontends reach this node.")
    String advertise__address();

    @AttributeDefinition(description = "Port of the file server; 0 for any.")
    int port();

    @AttributeDefinition(description = "Folder of models, data and staged files; empty for a temporary one.")
    String data();

    @AttributeDefinition(description = "Milliseconds between two heartbeats.")
    long heartbeat__ms();

    @AttributeDefinition(description = "File with the token to register with; empty for none.")
    String registration__token__file();

    @AttributeDefinition(description = "One JSON object for each backend: name, command.")
    String[] backends();
}
