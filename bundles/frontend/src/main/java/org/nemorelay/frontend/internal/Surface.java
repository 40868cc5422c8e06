package org.nemorelay.frontend.internal;

import java.util.Map;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.nemorelay.http.Answers;
import org.nemorelay.json.Json;

/** JSON answers. */
final class Surface {
    private Surface() {}

    static void json(Response response, Callback callback, int status, Map<String, Object> body, HttpField... headers) {
        Answers.json(response, callback, status, Json.write(body), headers);
    }
}
