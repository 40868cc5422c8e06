package org.nemorelay.worker.internal.plugins;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.nemorelay.http.HeaderEdit;
import org.nemorelay.http.HeaderRules;
import org.nemorelay.plugin.api.HeaderMap;
import org.nemorelay.protocol.Secrets;

/** Headers as plugins see them, and what they changed put back (plugins.md 1.6, 4.2). Stateless. */
final class PluginHeaders {
    /** Codings in which an answer can be read that a plugin may look at. */
    private static final Set<String> READABLE = Set.of("gzip", "deflate", "identity");

    private PluginHeaders() {}

    /** A request's, without credentials and what is the relay's own. */
    static HeaderMap shown(HttpFields fields) {
        List<HeaderMap.Header> headers = new ArrayList<>(fields.size());
        for (HttpField field : fields) {
            String name = field.getLowerCaseName();
            String value = field.getValue();
            if (value != null && !HeaderRules.isPrivate(name) && !Secrets.isSecret(name, value)) {
                headers.add(new HeaderMap.Header(field.getName(), value));
            }
        }
        return HeaderMap.of(headers);
    }

    static HeaderMap ofAnswer(HttpFields fields) {
        List<HeaderMap.Header> headers = new ArrayList<>(fields.size());
        for (HttpField field : fields) {
            if (field.getValue() != null) {
                headers.add(new HeaderMap.Header(field.getName(), field.getValue()));
            }
        }
        return HeaderMap.of(headers);
    }

    /** What makes {@code after} out of {@code before}; every other header stays as it is. */
    static HeaderEdit edit(HeaderMap before, HeaderMap after) {
        Set<String> names = new HashSet<>(after.namesChangedFrom(before));
        names.removeIf(HeaderRules::isPrivate);
        if (names.isEmpty()) {
            return HeaderEdit.NONE;
        }
        List<HttpField> put = new ArrayList<>();
        for (HeaderMap.Header header : after.list()) {
            if (names.contains(header.name().toLowerCase(Locale.ROOT))) {
                put.add(new HttpField(header.name(), header.value()));
            }
        }
        return fields -> {
            for (Iterator<HttpField> each = fields.iterator(); each.hasNext(); ) {
                if (names.contains(each.next().getLowerCaseName())) {
                    each.remove();
                }
            }
            put.forEach(fields::add);
        };
    }

    /** Asks for nothing that could not be read here; the client's other wishes stay. */
    static final HeaderEdit READABLE_ANSWER = fields -> {
        HttpField accepted = fields.getField(HttpHeader.ACCEPT_ENCODING);
        if (accepted != null) {
            List<String> kept = fields.getCSV(HttpHeader.ACCEPT_ENCODING, false).stream()
                    .filter(coding ->
                            READABLE.contains(coding.split(";", 2)[0].strip().toLowerCase(Locale.ROOT)))
                    .toList();
            fields.put(HttpHeader.ACCEPT_ENCODING, kept.isEmpty() ? "identity" : String.join(", ", kept));
        }
    };
}
