package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.Proc;
import org.nemorelay.it.User;

/**
 * The bytes that a harness writes are the bytes that the daemon gets, whatever the platform takes for its character set;
 * what is not UTF-8 is refused as the hook's policy says and never let through in silence (B29).
 */
class HookBytesTest {
    private static final Duration LIMIT = Duration.ofSeconds(40);
    private static final List<Map<String, String>> PLATFORMS = List.of(
            Map.of("LC_ALL", "C"),
            Map.of("LC_ALL", "zh_CN.GB18030", "LANG", "zh_CN.GB18030"),
            Map.of("JAVA_TOOL_OPTIONS", "-Dfile.encoding=windows-31j -Dstdin.encoding=windows-31j"));

    @TempDir
    Path folder;

    private static Proc.Spec hook(User user, String address, Map<String, String> platform, String... flags) {
        return user.withToken(
                        Distribution.tree().resolve("bin/nemo-relay").toString(),
                        "daemon",
                        "hook",
                        "claude",
                        "--daemon-address",
                        address)
                .command(flags)
                .env(platform);
    }

    /** A mark of byte order, four alphabets, and characters that hold a backslash in Japanese double-byte sets. */
    private static byte[] payload(int size) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes("\ufeff{\"hook_event_name\":\"PreToolUse\",\"x\":\"".getBytes(StandardCharsets.UTF_8));
        byte[] text = "\u8868\u80fd\u30bd \u4f60\u597d \ud83d\ude00 \u00e9 \\\\ ".getBytes(StandardCharsets.UTF_8);
        while (bytes.size() < size) {
            bytes.writeBytes(text);
        }
        bytes.writeBytes("\"}".getBytes(StandardCharsets.UTF_8));
        return bytes.toByteArray();
    }

    @Test
    void arriveAsTheyWereWritten() throws Exception {
        User user = User.self(folder.resolve("home"));
        try (ProvenDaemon daemon = new ProvenDaemon(user.token(), "{\"continue\":true}")) {
            int sent = 0;
            for (int size : new int[] {100 << 10, 5 << 20}) {
                byte[] payload = payload(size);
                for (Map<String, String> platform : PLATFORMS) {
                    Proc.Result result = hook(user, daemon.address(), platform).run(payload, LIMIT);
                    assertEquals(0, result.exit(), result.toString());
                    assertEquals("{\"continue\":true}", result.stdout());
                    assertArrayEquals(payload, daemon.bodies().get(sent++), platform.toString());
                }
            }
        }
    }

    @Test
    void thatAreNotUtf8AreRefusedByPolicyAndToldToNobody() throws Exception {
        User user = User.self(folder.resolve("home"));
        byte[] lone = "{\"hook_event_name\":\"Stop\",\"x\":\"?\"}".getBytes(StandardCharsets.UTF_8);
        lone[lone.length - 3] = (byte) 0x95;
        byte[] doubled =
                "{\"hook_event_name\":\"Stop\",\"x\":\"\u8868\u80fd\"}".getBytes(Charset.forName("windows-31j"));
        try (ProvenDaemon daemon = new ProvenDaemon(user.token(), "{\"continue\":true}")) {
            for (byte[] payload : List.of(lone, doubled)) {
                Proc.Result closed =
                        hook(user, daemon.address(), PLATFORMS.getFirst()).run(payload, LIMIT);
                assertEquals(2, closed.exit(), closed.toString());
                assertEquals("", closed.stdout());
                assertTrue(closed.stderr().contains("is not UTF-8"), closed.stderr());
                Proc.Result open = hook(user, daemon.address(), PLATFORMS.getFirst(), "--fail-open")
                        .run(payload, LIMIT);
                assertEquals(0, open.exit(), open.toString());
                assertEquals("", open.stdout());
                assertTrue(open.stderr().contains("is not UTF-8"), open.stderr());
            }
            assertEquals(0, daemon.connections());
        }
    }
}
