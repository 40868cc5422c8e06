package org.nemorelay.broker;

import org.nemorelay.protocol.Directive;

/** One MCP session's reference to its route. */
final class Session {
    final McpRegistration registration;
    final Route route;
    final Binding binding;
    boolean connected = true;
    long disconnectedAt;

    /** The last directive that the session was given on its present socket. */
    Directive told;

    Session(McpRegistration registration, Binding binding, Directive told) {
        this.registration = registration;
        this.route = binding.route;
        this.binding = binding;
        this.told = told;
    }

    String id() {
        return registration.sessionId();
    }
}
