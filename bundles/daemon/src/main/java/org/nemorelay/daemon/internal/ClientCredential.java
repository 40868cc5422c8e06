package org.nemorelay.daemon.internal;

import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.nemorelay.protocol.Headers;
import org.nemorelay.protocol.RouteToken;

/** What a request says about its route (relay-daemon 6.1). */
sealed interface ClientCredential {
    ClientCredential ABSENT = new Absent();

    record Absent() implements ClientCredential {}

    record Present(RouteToken token) implements ClientCredential {}

    /** Refused with 401, whatever the mode. */
    record Invalid(String message) implements ClientCredential {}

    static ClientCredential of(HttpFields headers) {
        String value = null;
        for (HttpField field : headers) {
            if (field.getName().equalsIgnoreCase(Headers.CLIENT_TOKEN)) {
                if (value != null) {
                    return new Invalid("exactly one route credential is required");
                }
                value = field.getValue() == null ? "" : field.getValue();
            }
        }
        if (value == null) {
            return ABSENT;
        }
        return RouteToken.parse(value)
                .<ClientCredential>map(Present::new)
                .orElseGet(() -> new Invalid("invalid route credential"));
    }
}
