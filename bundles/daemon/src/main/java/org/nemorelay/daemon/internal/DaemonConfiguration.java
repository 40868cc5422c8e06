package org.nemorelay.daemon.internal;

import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;

/** PID {@code org.nemorelay.daemon} (relay-daemon 1.1). */
@ObjectClassDefinition(name = "Relay daemon", pid = DaemonConfiguration.PID)
@interface DaemonConfiguration {
    String PID = "org.nemorelay.daemon";

    @AttributeDefinition(description = "127.0.0.1 or 0.0.0.0")
    String bind() default "127.0.0.1";

    @AttributeDefinition(description = "0 for any free port")
    int port() default 47_632;

    @AttributeDefinition(description = "URL under which clients reach the daemon; empty for the bound address")
    String advertise__address() default "";

    @AttributeDefinition(description = "Never launch a worker")
    boolean pass__through() default false;

    @AttributeDefinition(description = "Answer 503 instead of passing through while no worker is ready")
    boolean require__worker() default false;

    @AttributeDefinition(description = "Client tokens that one user may hold at a time")
    int max__tokens__per__identity() default 4;

    @AttributeDefinition(description = "PEM file of the listener's certificates; empty for cleartext")
    String tls__cert() default "";

    @AttributeDefinition(description = "PEM file of the listener's private key")
    String tls__key() default "";

    @AttributeDefinition(
            description = "Control connections that one address may begin in 15 s; 0 for 256, and 1,024 on loopback")
    int upgrades__per__address() default 0;

    @AttributeDefinition(description = "Addresses and networks whose X-Forwarded-For is believed, separated by commas")
    String trusted__proxies() default "";
}
