package org.nemorelay.http;

import org.eclipse.jetty.http.HttpFields;

/** A change to a head after the rules of every hop were applied. Runs on an I/O thread; must not block. */
@FunctionalInterface
public interface HeaderEdit {
    HeaderEdit NONE = headers -> {};

    void apply(HttpFields.Mutable headers);
}
