package org.nemorelay.http;

/**
 * Where a request goes and how.
 *
 * @param target path and query, as they stand on the request line
 * @param request applied to the request's head; what it sets is not filtered again
 * @param response applied to the response's head before it is written
 * @param headTimeoutMs how long the response's head may take from now; 0 for no limit
 */
public record Destination(
        Origin origin,
        WireProtocol protocol,
        String target,
        HeaderEdit request,
        HeaderEdit response,
        long headTimeoutMs) {
    public static Destination of(Origin origin, WireProtocol protocol, String target) {
        return new Destination(origin, protocol, target, HeaderEdit.NONE, HeaderEdit.NONE, 0);
    }

    public Destination withRequest(HeaderEdit edit) {
        return new Destination(origin, protocol, target, edit, response, headTimeoutMs);
    }

    public Destination withHeadTimeoutMs(long timeoutMs) {
        return new Destination(origin, protocol, target, request, response, timeoutMs);
    }
}
