package org.nemorelay.it.process;

import java.util.ArrayList;
import java.util.List;
import org.nemorelay.it.User;

/** The two ways of a request to the provider. */
enum Route {
    PASS_THROUGH(""),
    WORKER("/worker");

    private final String prefix;

    Route(String prefix) {
        this.prefix = prefix;
    }

    /** Where the provider sees a request to this path. */
    String at(String path) {
        return prefix + path;
    }

    /** These headers, and the user's token where it leads to the worker. */
    String[] headers(User user, String... headers) {
        List<String> all = new ArrayList<>(List.of(headers));
        if (this == WORKER) {
            all.add(user.header());
        }
        return all.toArray(String[]::new);
    }
}
