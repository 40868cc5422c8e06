package org.nemorelay.config.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.config.internal.Schema.Setting;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/** What a config.toml may say: every bad value is named with its place and what is expected. */
class SchemaTest {
    private final List<String> notes = new ArrayList<>();

    private Map<String, Setting> check(String toml) {
        return Schema.check(TomlFile.parse("config.toml", toml), notes::add);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    [upstream]\\nopenai_base_ur = "x"                  | config.toml:2:1: [upstream] "openai_base_ur" is not a known key; did you mean "openai_base_url"?
                    [upstream]\\nfile = "x"                            | config.toml:2:1: [upstream] "file" is not a known key; known: anthropic_auth_header, anthropic_base_url, chatgpt_codex_base_url, openai_auth_header, openai_base_url, response_timeout_secs
                    [upstream]\\nresponse_timeout_secs = -1            | config.toml:2:1: [upstream] response_timeout_secs must be an integer of 0 or more, it is -1
                    [upstream]\\nresponse_timeout_secs = "5"           | config.toml:2:1: [upstream] response_timeout_secs must be an integer of 0 or more, it is a string
                    [upstream]\\nopenai_base_url = 5                   | config.toml:2:1: [upstream] openai_base_url must be an absolute https URL (http on loopback only) without credentials, query or fragment, it is an integer
                    [upstream]\\n\\nopenai_base_url = "example.com"    | config.toml:3:1: [upstream] openai_base_url must be an absolute https URL (http on loopback only) without credentials, query or fragment
                    [upstream]\\nanthropic_base_url = "http://u:p@h"   | config.toml:2:1: [upstream] anthropic_base_url must be an absolute https URL (http on loopback only) without credentials, query or fragment
                    [upstream]\\nopenai_base_url = "http://10.0.0.1:80"   | config.toml:2:1: [upstream] openai_base_url must be an absolute https URL (http on loopback only) without credentials, query or fragment
                    [upstream]\\nchatgpt_codex_base_url = "http://a.b" | config.toml:2:1: [upstream] chatgpt_codex_base_url must be an absolute https URL (http on loopback only) without credentials, query or fragment
                    [upstream]\\nopenai_auth_header = "a\\u0007b"      | config.toml:2:1: [upstream] openai_auth_header must be a non-empty header value of printable ASCII
                    upstream = 1                                       | config.toml:1:1: [upstream] must be a table, it is an integer
                    [gateway]\\nmax_hook_payload_bytes = 0             | config.toml:2:1: [gateway] max_hook_payload_bytes must be a positive integer, it is 0
                    [logging]\\nlevel = "loud"                         | config.toml:2:1: [logging] level must be "error", "warn", "info", "debug" or "trace"
                    [logging]\\nfile = "x"                             | config.toml:2:1: [logging] "file" is not a known key; known: flush_interval_millis, level, sinks, stderr_enabled, stderr_format
                    [daemon.logging]\\nstderr_format = "xml"           | config.toml:2:1: [daemon.logging] stderr_format must be "human" or "jsonl"
                    [[logging.sinks]]\\nqueue_capacity = 9000          | config.toml:2:1: [logging.sinks] queue_capacity must be an integer from 1 through 8192, it is 9000
                    [[logging.sinks]]\\ncolour = 1                     | config.toml:2:1: [logging.sinks] "colour" is not a known key; known: format, level, max_file_size_bytes, path, queue_capacity, retained_files
                    [agents.emacs]\\ncommand = "x"                     | config.toml:1:1: [agents] "emacs" is not a known key; known: claude, codex, pi
                    [daemon]\\nport = 0                                | config.toml:2:1: [daemon] port must be an integer from 1 through 65535, it is 0
                    [daemon]\\nport = ""                               | config.toml:2:1: [daemon] port must be an integer from 1 through 65535, it is a string
                    [daemon]\\nbind = ""                               | config.toml:2:1: [daemon] bind must be 127.0.0.1 or 0.0.0.0, it is empty
                    [daemon]\\npass_through = "true"                   | config.toml:2:1: [daemon] pass_through must be true or false, it is a string
                    [daemon]\\ntrusted_proxies = "10.0.0.0/33"         | config.toml:2:1: [daemon] trusted_proxies must be one string of IP addresses and networks such as 10.0.0.0/8, separated by commas
                    [daemon]\\ntrusted_proxies = ["10.0.0.1"]          | config.toml:2:1: [daemon] trusted_proxies must be one string of IP addresses and networks such as 10.0.0.0/8, separated by commas, it is an array
                    """)
    void badValuesStopTheStart(String toml, String message) {
        RelayException failure = assertThrows(RelayException.class, () -> check(toml.replace("\\n", "\n")));
        assertEquals(FailureKind.CONFIGURATION, failure.kind());
        assertEquals(message, failure.getMessage());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    [upstream\\n                                          | config.toml:1:10: not valid TOML: Unexpected end of line, expected ]
                    [upstream]\\nopenai_auth_header = sk-secret           | config.toml:2:22: not valid TOML: unexpected text, expected a value
                    [upstream]\\nopenai_base_url=""\\nopenai_base_url=""  | config.toml:3:1: not valid TOML: openai_base_url previously defined at line 2, column 1
                    """)
    void brokenTomlIsNamedWithLineAndColumnAndNoContent(String toml, String message) {
        RelayException failure = assertThrows(RelayException.class, () -> check(toml.replace("\\n", "\n")));
        assertEquals(message, failure.getMessage());
    }

    @Test
    void goodValuesKeepTheirPlace() {
        Map<String, Setting> settings = check("""
                [upstream]
                openai_base_url = "http://127.0.0.1:1/v1"
                openai_auth_header = "  Bearer k "
                response_timeout_secs = 30
                [agents.codex]
                command = "codex"
                [[logging.sinks]]
                path = "/var/log/x"
                """);
        assertEquals(new Setting("http://127.0.0.1:1/v1", "config.toml:2:1"), settings.get("upstream.openai_base_url"));
        assertEquals("Bearer k", settings.get("upstream.openai_auth_header").value());
        assertEquals(30L, settings.get("upstream.response_timeout_secs").value());
        assertEquals(List.of(), notes);
    }

    @Test
    void unknownTablesAndGatewayKeysAreTolerated() {
        check("[gateway]\nmax_hook_payload_byte = 1\n[daemon]\nx = 1\n[distributed]\ncarrier = \"nats\"\n");
        assertEquals(
                List.of(
                        "config.toml:2:1: ignored: [gateway] \"max_hook_payload_byte\" is not a known key; did you"
                                + " mean \"max_hook_payload_bytes\"?",
                        "config.toml:4:1: ignored: [daemon] \"x\" is not a known key; known: advertise_address, bind,"
                                + " logging, max_tokens_per_identity, pass_through, port, require_worker, tls_cert, tls_key, trusted_proxies, upgrades_per_address"),
                notes);
    }

    @Test
    void aTableWithOneWrongLetterIsTold() {
        check(
                "[deamon]\npass_through = true\n[upstreams]\n[loging]\n[frontends]\n[distributed]\n[node]\n[mine]\n[gate]\n");
        String meant = " is not a known key; did you mean ";
        assertEquals(
                List.of(
                        "config.toml:1:1: ignored: \"deamon\"" + meant + "\"daemon\"?",
                        "config.toml:3:1: ignored: \"upstreams\"" + meant + "\"upstream\"?",
                        "config.toml:4:1: ignored: \"loging\"" + meant + "\"logging\"?",
                        "config.toml:5:1: ignored: \"frontends\"" + meant + "\"frontend\"?"),
                notes);
    }

    /** A table may be another program's, a key outside of all tables is nobody's. */
    @Test
    void aKeyOutsideOfAllTablesIsTold() {
        check("openai_base_url = \"x\"\n[mine]\n");
        assertEquals(
                List.of("config.toml:1:1: ignored: \"openai_base_url\" is not a known key; known: agent_worker, agents,"
                        + " daemon, distributed, frontend, gateway, logging, node, upstream"),
                notes);
    }

    /** Of each table every key that it says it knows, so that a new one is in this test by itself. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "[upstream]",
                "[gateway]",
                "[agents.codex]",
                "[logging]",
                "[[logging.sinks]]",
                "[daemon]",
                "[daemon.logging]",
                "[[daemon.logging.sinks]]"
            })
    void everyKeyOfTheWrongTypeTellsPlaceNameAndWhatIsRight(String table) {
        String unknown = told(table + "\nzz = 1\n");
        String name = table.replace("[[", "[").replace("]]", "]");
        String is = name + " \"zz\" is not a known key; known: ";
        assertTrue(
                unknown.startsWith("config.toml:2:1: " + is) || unknown.startsWith("config.toml:2:1: ignored: " + is),
                unknown);
        for (String key : unknown.substring(unknown.indexOf("known: ") + 7).split(", ")) {
            String wrong = told(table + "\n" + key + " = 1979-05-27\n");
            assertTrue(wrong.startsWith("config.toml:2:1: " + name + " " + key + " must be "), wrong);
            assertTrue(wrong.endsWith(", it is a date or time"), wrong);
        }
    }

    private String told(String toml) {
        try {
            check(toml);
            return notes.getLast();
        } catch (RelayException e) {
            return e.getMessage();
        }
    }
}
