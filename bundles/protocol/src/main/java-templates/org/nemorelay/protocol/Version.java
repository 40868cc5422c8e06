package org.nemorelay.protocol;

/**
 * The version of this build, as {@code --version}, {@code serverInfo} and {@code binary_version} tell it. The build puts
 * it into this class: reading a resource would cost short-lived processes several milliseconds.
 */
public final class Version {
    private Version() {}

    public static String text() {
        return "${project.version}";
    }
}
