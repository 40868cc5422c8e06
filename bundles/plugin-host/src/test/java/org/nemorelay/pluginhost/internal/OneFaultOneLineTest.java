package org.nemorelay.pluginhost.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.pluginhost.internal.MadeUpPlugins.Denying;

/** The log has one line for a fault, and another when something about it has changed. */
@Timeout(120)
class OneFaultOneLineTest extends WithHost {
    private List<String> lines(String part) {
        return host.log.stream().filter(line -> line.contains(part)).toList();
    }

    /** Another jar comes, and with it another change; when two have come, the first is made. */
    private void somethingElseChanges(String name) throws Exception {
        host.jar("etc/plugins/" + name + ".jar", name, Denying.class, policies(name));
        host.await(
                () -> state(name).file().endsWith(name + ".jar"),
                () -> plugins.status().toString());
    }

    private void cut(Path jar, byte[] whole, int part) throws Exception {
        Path beside = jar.resolveSibling(jar.getFileName() + ".new");
        Files.write(beside, Arrays.copyOf(whole, whole.length / part));
        Files.setPosixFilePermissions(beside, PosixFilePermissions.fromString("rw-r--r--"));
        Files.move(beside, jar, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    }

    @Test
    void aFileThatIsRefusedIsNotRefusedAgainWithEveryChange() throws Exception {
        host.jar("etc/plugins/p.jar", "p", Denying.class, policies("p"));
        host.plan("p", BY_KIND, Map.of("reason", "one"));
        start();
        host.noPlan().plan("p", BY_KIND, Map.of("reason", "bad")).replan();
        host.awaitLog("ERROR plugins_rejected: plugins.toml:7:2: plugin \"p\": reason: must not be bad");
        somethingElseChanges("q");
        somethingElseChanges("r");
        assertEquals(1, lines("must not be bad").size(), host.log::toString);
        host.noPlan().plan("p", OPTIONAL, Map.of("reason", "bad")).replan();
        host.await(() -> lines("must not be bad").size() == 2, host.log::toString);
        // What is right in between is wrong anew.
        host.noPlan().plan("p", BY_KIND, Map.of("reason", "two")).replan();
        awaitReason("two");
        host.noPlan().plan("p", BY_KIND, Map.of("reason", "bad")).replan();
        host.await(() -> lines("must not be bad").size() == 3, host.log::toString);
    }

    @Test
    void aHalfCopiedJarIsToldOnceWhileItStaysAsItIs() throws Exception {
        Path serving = host.jar("etc/plugins/p.jar", "p", Denying.class, policies("p"));
        byte[] whole = Files.readAllBytes(serving);
        host.plan("p", BY_KIND, Map.of("reason", "one"));
        start();
        Path idle = serving.resolveSibling("other.jar");
        cut(serving, whole, 2);
        cut(idle, whole, 2);
        String broken = " is not a whole jar (";
        host.await(
                () -> lines(serving + broken).size() == 1
                        && lines(idle + broken).size() == 1,
                host.log::toString);
        somethingElseChanges("q");
        somethingElseChanges("r");
        assertEquals(1, lines(serving + broken).size(), host.log::toString);
        assertEquals(1, lines(idle + broken).size(), host.log::toString);
        cut(serving, whole, 3);
        cut(idle, whole, 3);
        host.await(
                () -> lines(serving + broken).size() == 2
                        && lines(idle + broken).size() == 2,
                host.log::toString);
        assertEquals(
                List.of("ERROR plugin_update_failed", "ERROR plugin_update_failed"),
                lines(serving + broken).stream()
                        .map(line -> line.substring(0, line.indexOf(':')))
                        .toList());
    }
}
