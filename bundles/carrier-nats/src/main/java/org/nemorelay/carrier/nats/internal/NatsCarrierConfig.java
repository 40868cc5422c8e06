package org.nemorelay.carrier.nats.internal;

import org.osgi.service.metatype.annotations.AttributeDefinition;
import org.osgi.service.metatype.annotations.ObjectClassDefinition;

/**
 * {@code [distributed.carriers.<name>] type = "nats"}. Secrets are in files, which are read again for every connection;
 * nothing here is one, since these become properties of the service.
 */
@ObjectClassDefinition(name = "Carrier over NATS")
public @interface NatsCarrierConfig {
    @AttributeDefinition(description = "The name of this instance.")
    String carrier() default "nats";

    @AttributeDefinition(
            description = "Servers of one cluster, such as nats://host:4222 or tls://host:4222, without credentials.")
    String[] servers() default "nats://127.0.0.1:4222";

    @AttributeDefinition(description = "Whether other servers of the cluster, as the server names them, are used too.")
    boolean discover_servers() default true;

    @AttributeDefinition(description = "File with the certificates to trust (PEM); its presence makes TLS a must.")
    String tls_ca() default "";

    @AttributeDefinition(description = "File with this client's certificate chain (PEM); with tls_key.")
    String tls_cert() default "";

    @AttributeDefinition(description = "File with this client's private key (PEM, PKCS #8); with tls_cert.")
    String tls_key() default "";

    @AttributeDefinition(description = "User name; with password_file.")
    String user() default "";

    @AttributeDefinition(description = "File with the user's password.")
    String password_file() default "";

    @AttributeDefinition(description = "File with a token.")
    String token_file() default "";

    @AttributeDefinition(description = "File with an NKey seed.")
    String nkey_file() default "";

    @AttributeDefinition(description = "File with a user JWT and its seed, as nsc writes it.")
    String credentials_file() default "";

    @AttributeDefinition(description = "Subject of agent runs for this consumer; empty keeps agent.execute.")
    String agent_subject() default "";

    @AttributeDefinition(description = "Queue group of agent runs; empty lets every agent worker run every job.")
    String agent_queue() default "agent-workers";

    @AttributeDefinition(description = "S3 endpoint for file staging, such as https://s3.example.org; empty: none.")
    String store_url() default "";

    @AttributeDefinition(description = "Bucket.")
    String store_bucket() default "localai";

    @AttributeDefinition(description = "Region.")
    String store_region() default "us-east-1";

    @AttributeDefinition(description = "Access key; with store_secret_key_file.")
    String store_access_key() default "";

    @AttributeDefinition(description = "File with the secret key.")
    String store_secret_key_file() default "";
}
