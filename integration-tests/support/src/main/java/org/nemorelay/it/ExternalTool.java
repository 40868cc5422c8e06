package org.nemorelay.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Locale;

/** A program that is not ours, in a pinned version, which {@code tools/fetch} installs into a cache outside the tree. */
public enum ExternalTool {
    STOCK,
    CLAUDE,
    CODEX,
    PI,
    INSPECTOR,
    NODE;

    private static final int UNAVAILABLE = 3;

    /**
     * The executable, installed when the cache has none. Where the package cannot be had the test is skipped with the
     * reason, under {@code CI} it fails.
     */
    public Path require() {
        String tools = System.getProperty("nemorelay.tools");
        if (tools == null) {
            throw new IllegalStateException("system property nemorelay.tools must name the folder of the fetch script");
        }
        try {
            Process fetch = new ProcessBuilder(Path.of(tools, "fetch").toString(), name().toLowerCase(Locale.ROOT))
                    .redirectErrorStream(true)
                    .start();
            fetch.getOutputStream().close();
            String output = new String(fetch.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            int exit = fetch.waitFor();
            if (exit == UNAVAILABLE) {
                Requirement.missing(output);
            }
            if (exit != 0) {
                throw new AssertionError("tools/fetch ended with " + exit + ": " + output);
            }
            return Path.of(output.lines().reduce((first, last) -> last).orElseThrow());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
