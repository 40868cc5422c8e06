package org.nemorelay.worker.internal.observe;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;

/** A model request. Its head is read by whoever records it, not by the thread that the request waits for. */
final class ObservedRequest {
    private final Instant time;
    private final ModelApi api;
    private final String path;
    private final HttpFields head;
    private final Optional<RequestCopy> body;

    /** Of the dispatcher's thread. */
    private Optional<Map<String, String>> headers = Optional.empty();

    /**
     * @param head of several equal names the last counts
     * @param body what its record has of it; empty where nobody read it
     */
    ObservedRequest(Instant time, ModelApi api, String path, HttpFields head, Optional<RequestCopy> body) {
        this.time = time;
        this.api = api;
        this.path = path;
        this.head = head.asImmutable();
        this.body = body;
    }

    ObservedRequest withBody(RequestCopy copy) {
        return new ObservedRequest(time, api, path, head, Optional.of(copy));
    }

    Instant time() {
        return time;
    }

    ModelApi api() {
        return api;
    }

    String path() {
        return path;
    }

    HttpFields head() {
        return head;
    }

    Optional<RequestCopy> body() {
        return body;
    }

    /** Names in lower case, sorted; for one thread alone. */
    Map<String, String> headers() {
        if (headers.isEmpty()) {
            Map<String, String> read = new TreeMap<>();
            for (HttpField field : head) {
                if (field.getValue() != null) {
                    read.put(field.getLowerCaseName(), field.getValue());
                }
            }
            headers = Optional.of(read);
        }
        return headers.get();
    }
}
