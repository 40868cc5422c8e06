package org.nemorelay.it.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.nemorelay.carrier.direct.internal.DirectCarrier;
import org.nemorelay.carrier.direct.internal.DirectCarrierConfig;
import org.nemorelay.carrier.local.internal.LocalCarrier;
import org.nemorelay.carrier.local.internal.LocalCarrierConfig;
import org.nemorelay.carrier.nats.internal.NatsCarrier;
import org.nemorelay.carrier.nats.internal.NatsCarrierConfig;
import org.nemorelay.it.Distribution;
import org.nemorelay.seams.NotServedException;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.testkit.Recorder;
import org.nemorelay.testkit.TunnelCarrier;

/** The table of docs/carriers.md, cell by cell. What a cell promises is held by the conformance suites of each carrier. */
class CarrierTableTest {
    private static final String YES = "yes";
    private static final String NO = "–";
    /** For carriers that are told where the store is; ours are made without one. */
    private static final String STORE = "with a store";

    private final Recorder recorder = new Recorder();

    private static Map<String, Executable> rows(Carrier carrier) {
        Map<String, Executable> rows = new LinkedHashMap<>();
        rows.put("Broadcaster", carrier::broadcaster);
        rows.put("WorkQueue", () -> {
            carrier.workQueue();
            carrier.workConsumer();
        });
        rows.put("NodeCommandSender", carrier::commands);
        rows.put("ControlServer", () -> carrier.controlServer("n").close());
        rows.put("AgentControl", carrier::agentControl);
        rows.put("AgentRpcServer", carrier::agentRpcServer);
        rows.put("BackendClientFactory", carrier::backendClients);
        rows.put("ModelProber", carrier::prober);
        rows.put("WorkerDialers", carrier::dialers);
        rows.put("NodeEndpoints", carrier::endpoints);
        rows.put("FileStager", carrier::stager);
        rows.put("ObjectStore", carrier::store);
        return rows;
    }

    @Test
    void everyCellIsTrue() throws Throwable {
        List<List<String>> table = table("| seam |");
        List<String> names = table.getFirst().subList(1, table.getFirst().size());
        assertEquals(List.of("local", "nats", "direct", "tunnel"), names);
        LocalCarrier local = new LocalCarrier(defaults(LocalCarrierConfig.class), recorder, recorder);
        NatsCarrier nats = new NatsCarrier(defaults(NatsCarrierConfig.class), recorder, recorder);
        DirectCarrier direct = new DirectCarrier(defaults(DirectCarrierConfig.class));
        TunnelCarrier tunnel = new TunnelCarrier(Optional.empty(), recorder);
        try {
            List<Carrier> carriers = List.of(local, nats, direct, tunnel);
            int checked = 0;
            for (List<String> row : table.subList(2, table.size())) {
                for (int i = 0; i < carriers.size(); i++) {
                    check(carriers.get(i), row.getFirst(), row.get(i + 1));
                    checked++;
                }
            }
            assertEquals(12 * 4, checked);
        } finally {
            local.close();
            nats.close();
            direct.close();
            tunnel.close();
        }
    }

    private static void check(Carrier carrier, String row, String cell) throws Throwable {
        String where = carrier.name() + ", " + row;
        Executable seam = rows(carrier).entrySet().stream()
                .filter(entry -> row.contains("`" + entry.getKey() + "`"))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElseThrow(() -> new AssertionError("a row for no seam: " + row));
        if (cell.equals(YES)) {
            seam.execute();
        } else {
            assertTrue(cell.equals(NO) || cell.equals(STORE), where + ": " + cell);
            NotServedException lacks = assertThrows(NotServedException.class, seam, where);
            assertTrue(lacks.getMessage().contains(carrier.name()), lacks.getMessage());
        }
    }

    /** The table of keys, against what each carrier takes and what it does without. */
    @Test
    void everyKeyIsThereWithItsDefault() throws Exception {
        List<List<String>> table = table("| type | key |");
        Map<String, Class<? extends Annotation>> types = Map.of(
                "nats", NatsCarrierConfig.class,
                "direct", DirectCarrierConfig.class,
                "local", LocalCarrierConfig.class);
        Map<String, String> documented = new TreeMap<>();
        for (List<String> row : table.subList(2, table.size())) {
            documented.put(row.get(0) + " " + plain(row.get(1)), plain(row.get(2)));
        }
        Map<String, String> taken = new TreeMap<>();
        types.forEach((type, config) -> {
            for (Method method : config.getDeclaredMethods()) {
                if (!method.getName().equals("carrier")) {
                    Object value = method.getDefaultValue();
                    taken.put(
                            type + " " + method.getName(),
                            value instanceof String[] texts ? String.join(", ", texts) : value.toString());
                }
            }
        });
        assertEquals(taken, documented);
    }

    private static String plain(String cell) {
        return cell.replace("`", "");
    }

    private static List<List<String>> table(String head) throws Exception {
        Path docs = Distribution.tree().resolve("../../../docs/carriers.md").normalize();
        return Files.readAllLines(docs).stream()
                .dropWhile(line -> !line.startsWith(head))
                .takeWhile(line -> line.startsWith("| "))
                .map(line -> Arrays.stream(line.substring(2, line.length() - 1).split("\\|", -1))
                        .map(String::strip)
                        .toList())
                .toList();
    }

    /** A configuration in which nobody set anything. */
    private static <T extends Annotation> T defaults(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> method.getDefaultValue()));
    }
}
