package org.nemorelay.worker.internal.plugins;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.Test;
import org.nemorelay.plugin.api.HeaderMap;

/** What plugins see of a request's headers, and what becomes of those that they do not see. */
class PluginHeadersTest {
    private static final HttpFields REQUEST = HttpFields.build()
            .add("Authorization", "Bearer s3cret")
            .add("X-Vault-Token", "s3cret")
            .add("Cookie", "s3cret")
            .add("X-Nemo-Relay-Client-Token", "s3cret")
            .add("X-Upstream", "Basic s3cret")
            .add("X-Session-Id", "s-1");

    @Test
    void credentialsAreNotShown() {
        assertEquals(
                List.of(new HeaderMap.Header("X-Session-Id", "s-1")),
                PluginHeaders.shown(REQUEST).list());
    }

    @Test
    void whatIsNotShownStaysUnlessAPluginSetsIt() {
        HeaderMap shown = PluginHeaders.shown(REQUEST);
        HttpFields.Mutable sent = HttpFields.build(REQUEST);
        PluginHeaders.edit(shown, shown.with("x-vault-token", "other")).apply(sent);
        assertEquals(List.of("other"), sent.getValuesList("X-Vault-Token"));
        assertEquals("Bearer s3cret", sent.get("Authorization"));
    }
}
