package org.nemorelay.it.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.nemorelay.it.Proc;
import org.nemorelay.it.Requirement;

/** Hosts of one network, as network namespaces around a switch; host number n has the address 10.77.0.n. Needs root. */
final class Hosts implements AutoCloseable {
    private static final AtomicInteger NUMBERS = new AtomicInteger();

    private final String prefix = "nr" + ProcessHandle.current().pid() + "x" + NUMBERS.incrementAndGet();
    private final List<String> namespaces = new ArrayList<>();

    Hosts(int count) {
        Requirement.root("to make network namespaces");
        removeOrphans();
        String hub = add(prefix + "s");
        ip("-n", hub, "link", "add", "name", "hub", "type", "bridge");
        ip("-n", hub, "link", "set", "hub", "up");
        for (int i = 1; i <= count; i++) {
            String host = add(prefix + "h" + i);
            ip("-n", host, "link", "add", "eth", "type", "veth", "peer", "name", "p" + i, "netns", hub);
            ip("-n", hub, "link", "set", "p" + i, "master", "hub", "up");
            ip("-n", host, "addr", "add", address(i) + "/24", "dev", "eth");
            ip("-n", host, "link", "set", "eth", "up");
        }
    }

    static String address(int host) {
        return "10.77.0." + host;
    }

    /** Runs it on a host. */
    Proc.Spec on(int host, Proc.Spec spec) {
        return spec.under(List.of("ip", "netns", "exec", prefix + "h" + host));
    }

    /** Takes the cable of a host out, or puts it back. Nothing that it holds is closed by that. */
    void link(int host, boolean up) {
        ip("-n", prefix + "s", "link", "set", "p" + host, up ? "up" : "down");
    }

    /** What a run that was killed has left. */
    private static synchronized void removeOrphans() {
        Proc.spec()
                .command("ip", "netns", "list")
                .run(Duration.ofSeconds(20))
                .stdout()
                .lines()
                .map(line -> line.split(" ")[0])
                .filter(name -> name.matches("nr\\d+x\\d+.*")
                        && ProcessHandle.of(Long.parseLong(name.substring(2, name.indexOf('x'))))
                                .isEmpty())
                .forEach(name -> ip("netns", "del", name));
    }

    private String add(String name) {
        ip("netns", "add", name);
        namespaces.add(name);
        ip("-n", name, "link", "set", "lo", "up");
        return name;
    }

    private static void ip(String... arguments) {
        Proc.Result result = Proc.spec().command("ip").command(arguments).run(Duration.ofSeconds(20));
        if (result.exit() != 0) {
            throw new AssertionError("ip " + String.join(" ", arguments) + ": " + result.stderr());
        }
    }

    @Override
    public void close() {
        namespaces.forEach(name -> ip("netns", "del", name));
    }
}
