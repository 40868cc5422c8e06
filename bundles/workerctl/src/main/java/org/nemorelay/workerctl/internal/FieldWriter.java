package org.nemorelay.workerctl.internal;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.nemorelay.workerctl.WireRecord;

/** Collects the fields of a record in wire order; the conditional methods leave out empty values. */
public final class FieldWriter {
    private final Map<String, Object> fields = new LinkedHashMap<>();

    public FieldWriter put(String key, Object value) {
        fields.put(key, value);
        return this;
    }

    public FieldWriter nonEmpty(String key, String value) {
        return value.isEmpty() ? this : put(key, value);
    }

    public FieldWriter nonEmpty(String key, long value) {
        return value == 0 ? this : put(key, value);
    }

    public FieldWriter nonEmpty(String key, boolean value) {
        return value ? put(key, true) : this;
    }

    public FieldWriter nonEmpty(String key, Map<String, Object> value) {
        return value.isEmpty() ? this : put(key, value);
    }

    /** A number that peers print without a fraction when it has none. */
    public FieldWriter number(String key, double value) {
        return value == Math.rint(value) && Math.abs(value) < 1e15 ? put(key, (long) value) : put(key, value);
    }

    public FieldWriter strings(String key, List<String> values) {
        return values.isEmpty() ? this : put(key, values);
    }

    public FieldWriter records(String key, List<? extends WireRecord> values) {
        return values.isEmpty() ? this : put(key, list(values));
    }

    public FieldWriter recordsOrNull(String key, List<? extends WireRecord> values) {
        return put(key, values.isEmpty() ? null : list(values));
    }

    public Map<String, Object> done() {
        return fields;
    }

    public static List<Object> list(List<? extends WireRecord> values) {
        List<Object> items = new ArrayList<>(values.size());
        for (WireRecord value : values) {
            items.add(value.toJson());
        }
        return items;
    }
}
