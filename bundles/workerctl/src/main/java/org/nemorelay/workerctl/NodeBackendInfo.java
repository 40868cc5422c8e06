package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** One backend on a worker. */
public record NodeBackendInfo(
        String name,
        boolean isSystem,
        boolean isMeta,
        String installedAt,
        String galleryUrl,
        String version,
        String uri,
        String digest)
        implements WireRecord {
    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static NodeBackendInfo decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static NodeBackendInfo fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new NodeBackendInfo(
                in.string("name"),
                in.bool("is_system"),
                in.bool("is_meta"),
                in.string("installed_at"),
                in.string("gallery_url"),
                in.string("version"),
                in.string("uri"),
                in.string("digest"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .put("name", name)
                .put("is_system", isSystem)
                .put("is_meta", isMeta)
                .nonEmpty("installed_at", installedAt)
                .nonEmpty("gallery_url", galleryUrl)
                .nonEmpty("version", version)
                .nonEmpty("uri", uri)
                .nonEmpty("digest", digest)
                .done();
    }
}
