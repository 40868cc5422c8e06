package org.nemorelay.daemon.internal;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.nemorelay.http.Answers;
import org.nemorelay.protocol.Digest;
import org.nemorelay.protocol.ListenerProof;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.protocol.control.Secret;

/**
 * Proves to hooks that this is the daemon their user's sessions registered with ({@link ListenerProof}). It knows the client
 * tokens of the registrations of this process, also of sessions that have ended, as a harness runs its last hooks after its
 * session; in memory only. Safe for any thread.
 */
final class ProofDesk {
    private static final int MAX_TOKENS = 8_192;
    private static final HttpField NO_STORE = new HttpField(HttpHeader.CACHE_CONTROL, "no-store");

    private final Ids ids;
    private final Map<Digest, Secret> tokens = new LinkedHashMap<>(64, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Digest, Secret> eldest) {
            return size() > MAX_TOKENS;
        }
    };

    ProofDesk(Ids ids) {
        this.ids = ids;
    }

    /** The token of a registration that was accepted. */
    void remember(Secret token) {
        Digest digest = Digest.of(ListenerProof.tokenDigest(token.text()));
        synchronized (tokens) {
            tokens.put(digest, token);
        }
    }

    void handle(Request request, Response response, Callback callback) {
        HttpFields headers = request.getHeaders();
        Optional<byte[]> nonce = bytes(headers, ListenerProof.NONCE_HEADER);
        Optional<byte[]> digest = bytes(headers, ListenerProof.TOKEN_HEADER);
        if (nonce.isEmpty() || digest.isEmpty()) {
            Answers.error(response, callback, 400, "a proof needs a nonce and a token digest", NO_STORE);
            return;
        }
        Secret token;
        synchronized (tokens) {
            token = tokens.get(Digest.of(digest.get()));
        }
        if (token == null
                || !(request.getConnectionMetaData().getLocalSocketAddress() instanceof InetSocketAddress address)) {
            Answers.error(response, callback, 403, "the client token is not known here", NO_STORE);
            return;
        }
        byte[] answer = ListenerProof.answer(
                token.text(),
                nonce.get(),
                ids.octets(ListenerProof.NONCE_LENGTH).bytes(),
                ListenerProof.origin(address.getAddress(), address.getPort()));
        response.setStatus(200);
        HttpFields.Mutable fields = response.getHeaders();
        fields.put(HttpHeader.CONTENT_TYPE, "application/octet-stream");
        fields.put(NO_STORE);
        fields.put(HttpHeader.CONTENT_LENGTH, answer.length);
        response.write(true, ByteBuffer.wrap(answer), callback);
    }

    private static Optional<byte[]> bytes(HttpFields headers, String name) {
        String text = headers.get(name);
        return text == null ? Optional.empty() : ListenerProof.bytes(text);
    }
}
