package org.nemorelay.plugin.api;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.osgi.annotation.bundle.Attribute;
import org.osgi.annotation.bundle.Capability;

/**
 * Names the {@code kind} of {@code [[components]]} in plugins.toml that the annotated component implements. The build
 * writes it into the manifest, where the relay finds it before it loads any class. The component's configuration PID is
 * the same word, its configuration policy REQUIRE. The version of a kind is the version of its bundle.
 */
@Capability(namespace = PluginKind.NAMESPACE)
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.TYPE)
public @interface PluginKind {
    /** The capability namespace in the manifest. */
    String NAMESPACE = "org.nemorelay.plugin";

    /** The kind, in snake case. */
    @Attribute("kind")
    String value();

    /**
     * Whether the plugin only observes. Such a component is optional unless its {@code required = true}: the worker
     * serves without it. Every other one is required unless its {@code required = false}.
     */
    @Attribute("observer")
    boolean observer() default false;

    /**
     * The keys of the component's {@code config} and what each takes, so that the relay and {@code plugins validate} find a
     * wrong one before any class of the plugin is loaded. Each is a key, a blank and a kind of value: {@code "reason string"},
     * {@code "timeout_millis 1..60000"}, {@code "mode =strict|lax"}, {@code "rules[].tools [string]"}. Without any only the
     * plugin's own code looks at its configuration. The guide's page on configuration has the whole of it.
     */
    @Attribute("config")
    String[] config() default {};
}
