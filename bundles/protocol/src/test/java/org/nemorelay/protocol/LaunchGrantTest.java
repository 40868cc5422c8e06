package org.nemorelay.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;

class LaunchGrantTest {
    @Test
    void standardInputForm() {
        LaunchGrant grant = new LaunchGrant("a", "t", LaunchGrant.NO_DEADLINE, "127.0.0.1", 0, Optional.empty());
        String text = Json.write(grant.json());
        assertEquals(
                "{\"activation_id\":\"a\",\"activation_token\":\"t\",\"deadline_unix_ms\":18446744073709551615,"
                        + "\"bind_ip\":\"127.0.0.1\",\"port\":0,\"advertise_address\":null}",
                text);
        assertEquals(grant, LaunchGrant.of(Json.parseObject(text)));
    }

    @Test
    void anIncompleteGrantIsNone() {
        assertThrows(JsonException.class, () -> LaunchGrant.of(Json.parseObject("{\"activation_id\":\"a\"}")));
        assertThrows(
                JsonException.class,
                () -> LaunchGrant.of(
                        Json.parseObject(
                                "{\"activation_id\":\"a\",\"activation_token\":\"t\",\"deadline_unix_ms\":-1,\"bind_ip\":\"127.0.0.1\",\"port\":0}")));
    }
}
