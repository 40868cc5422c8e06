package org.nemorelay.cli.internal;

import java.io.PrintStream;
import java.util.Map;
import java.util.TreeMap;
import org.nemorelay.identity.ClientTokens;
import org.nemorelay.json.Json;

/** {@code nemo-relay daemon token ensure} (relay-daemon 1.6). */
public final class TokenEnsure {
    private TokenEnsure() {}

    public static void run(Map<String, String> environment, boolean json, PrintStream out) {
        ClientTokens.Ensured ensured = ClientTokens.ensure(environment);
        if (json) {
            Map<String, Object> result = new TreeMap<>();
            result.put("path", ensured.path().toString());
            result.put("status", ensured.status());
            out.println(Json.write(result));
        } else if (ensured.created()) {
            out.println("Created NeMo Relay client token file " + ensured.path());
        } else {
            out.println("NeMo Relay client token file " + ensured.path() + " already exists");
        }
    }
}
