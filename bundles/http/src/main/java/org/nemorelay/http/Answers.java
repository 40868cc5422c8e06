package org.nemorelay.http;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;
import org.nemorelay.json.Json;

/** The answers that a relay process makes itself (relay-daemon 2, 6.5).  */
public final class Answers {
    /** Attribute of a request after which its connection is closed, whatever becomes of its body: its answer says so. */
    public static final String LAST = Answers.class.getName() + ".last";

    private Answers() {}

    /** A JSON body with the headers given between type and length. */
    public static void json(Response response, Callback callback, int status, String body, HttpField... headers) {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        HttpFields.Mutable fields = begin(response, status);
        fields.put(HttpHeader.CONTENT_TYPE, "application/json");
        finish(response, callback, fields, bytes, headers);
    }

    /** No body. */
    public static void empty(Response response, Callback callback, int status, HttpField... headers) {
        HttpFields.Mutable fields = begin(response, status);
        finish(response, callback, fields, new byte[0], headers);
    }

    /** {@code {"error":{"message":...}}}. */
    public static void error(Response response, Callback callback, int status, String message, HttpField... headers) {
        json(response, callback, status, Json.write(Map.of("error", Map.of("message", message))), headers);
    }

    /** {@code {"error":{"message":...,"type":"nemo_relay_gateway_error"}}}. */
    public static void gatewayError(
            Response response, Callback callback, int status, String message, HttpField... headers) {
        Map<String, Object> error = new LinkedHashMap<>();
        error.put("message", message);
        error.put("type", "nemo_relay_gateway_error");
        json(response, callback, status, Json.write(Map.of("error", error)), headers);
    }

    private static HttpFields.Mutable begin(Response response, int status) {
        response.setStatus(status);
        return response.getHeaders().clear();
    }

    private static void finish(
            Response response, Callback callback, HttpFields.Mutable fields, byte[] body, HttpField... headers) {
        for (HttpField header : headers) {
            fields.add(header);
        }
        fields.put(HttpHeader.CONTENT_LENGTH, body.length);
        Request request = response.getRequest();
        if (request.getConnectionMetaData().getHttpVersion() != HttpVersion.HTTP_2) {
            // Where the rest of the body is not here yet, the server closes the connection, and the answer then says
            // so.
            if (request.getAttribute(LAST) != null || !request.consumeAvailable()) {
                fields.put(HttpFields.CONNECTION_CLOSE);
            }
        }
        response.write(true, body.length == 0 ? BufferUtil.EMPTY_BUFFER : ByteBuffer.wrap(body), callback);
    }
}
