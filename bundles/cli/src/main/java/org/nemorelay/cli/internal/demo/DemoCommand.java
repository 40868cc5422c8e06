package org.nemorelay.cli.internal.demo;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.nemorelay.cli.internal.Table;
import org.nemorelay.json.Json;

/** {@code nemo-relay demo}: runs the demo, shows it, and leaves nothing behind, on an interrupt neither. */
public final class DemoCommand {
    private static final int LOG_LINES = 40;

    private static final Map<String, String> TITLES = Map.of(
            "start", "Start",
            "request", "One streamed model request",
            "hook", "One hook",
            "stop", "Shut-down");

    private DemoCommand() {}

    /** Returns the exit status: 0, or 1 where a step failed or a hop was bypassed. */
    public static int run(Path tree, Map<String, String> environment, boolean json, PrintStream out, PrintStream err) {
        List<String> problems = new ArrayList<>();
        List<Hop> hops = new ArrayList<>();
        List<String> log = List.of();
        try (Scene scene = new Scene(environment);
                Provider provider = new Provider()) {
            Runtime.getRuntime().addShutdownHook(new Thread(scene::close, "demo-cleanup"));
            Demo demo = new Demo(scene, provider, tree);
            try {
                demo.run();
            } catch (DemoFailure | IOException e) {
                problems.add(e.getMessage());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                problems.add("the demo was interrupted");
            }
            hops.addAll(demo.hops());
            problems.addAll(demo.problems());
            log = scene.log();
        } catch (IOException | DemoFailure e) {
            problems.add(e.getMessage());
        }
        out.print(json ? Json.write(json(hops, problems)) + "\n" : text(hops, problems.isEmpty()));
        if (!problems.isEmpty()) {
            problems.forEach(problem -> err.println("demo failed: " + problem));
            log.subList(Math.max(0, log.size() - LOG_LINES), log.size()).forEach(line -> err.println("  " + line));
        }
        return problems.isEmpty() ? 0 : 1;
    }

    private static Map<String, Object> json(List<Hop> hops, List<String> problems) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("ok", problems.isEmpty());
        json.put("hops", hops.stream().map(Hop::json).toList());
        json.put("problems", problems);
        return json;
    }

    private static String text(List<Hop> hops, boolean ok) {
        StringBuilder text = new StringBuilder();
        List<List<String>> rows = new ArrayList<>();
        List<String> titles = new ArrayList<>();
        for (Hop hop : hops) {
            titles.add(hop.phase());
            rows.add(List.of(String.format(Locale.ROOT, "%10.1f ms", hop.millis()), hop.route(), hop.what()));
        }
        StringBuilder table = new StringBuilder();
        new Table(rows).append(table);
        String phase = "";
        int row = 0;
        for (String line : table.toString().lines().toList()) {
            if (!titles.get(row).equals(phase)) {
                phase = titles.get(row);
                text.append(text.isEmpty() ? "" : "\n")
                        .append(TITLES.get(phase))
                        .append('\n');
            }
            text.append(line).append('\n');
            row++;
        }
        if (ok) {
            text.append(CONNECT);
        }
        return text.toString();
    }

    private static final String CONNECT = """

            Nothing was bypassed: the provider saw the request from the worker, and the plugin recorded request and hook.
            Nothing is left running.

            Connect a real agent
              nemo-relay daemon token ensure    once for each user: makes the client token
              nemo-relay daemon                 keep it running, or make it a service
              export NEMO_RELAY_CLIENT_TOKEN="$(cat ~/.config/nemo-relay/.client-token)"

              Claude Code
                export ANTHROPIC_BASE_URL=http://127.0.0.1:47632
                export ANTHROPIC_CUSTOM_HEADERS="x-nemo-relay-client-token: $NEMO_RELAY_CLIENT_TOKEN"
                claude mcp add nemo-relay -- nemo-relay daemon mcp --daemon-address http://127.0.0.1:47632
                hooks in settings.json, for each event: {"type": "command", "timeout": 30,
                  "command": "nemo-relay daemon hook claude --daemon-address http://127.0.0.1:47632"}

              Codex, in ~/.codex/config.toml
                model_provider = "nemo-relay"
                [model_providers.nemo-relay]
                name = "nemo-relay"
                base_url = "http://127.0.0.1:47632/v1"
                wire_api = "responses"
                requires_openai_auth = true
                env_http_headers = { "x-nemo-relay-client-token" = "NEMO_RELAY_CLIENT_TOKEN" }
                [mcp_servers.nemo-relay]
                command = "nemo-relay"
                args = ["daemon", "mcp", "--daemon-address", "http://127.0.0.1:47632"]
                env_vars = ["NEMO_RELAY_CLIENT_TOKEN"]

            Administrator plugins: /etc/nemo-relay/plugins.toml, and their bundles in /etc/nemo-relay/plugins/.
            """;
}
