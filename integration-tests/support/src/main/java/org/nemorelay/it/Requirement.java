package org.nemorelay.it;

import static org.junit.jupiter.api.Assumptions.abort;

/**
 * Something of the machine that a test cannot do without. Where it is missing the test is skipped and says why; under
 * {@code CI} it fails, so that no check is lost unseen.
 */
public final class Requirement {
    private Requirement() {}

    public static void of(boolean met, String why) {
        if (!met) {
            missing(why);
        }
    }

    public static void root(String why) {
        of("root".equals(System.getProperty("user.name")), "needs root " + why + "; run the tests as root");
    }

    static void missing(String why) {
        String ci = System.getenv("CI");
        if (ci != null && !ci.isEmpty()) {
            throw new AssertionError("under CI this may not be missing: " + why);
        }
        System.out.println("[skipped] " + why);
        abort(why);
    }
}
