package org.nemorelay.worker.internal;

import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.nemorelay.pluginhost.PluginHost;

/** Keeps the plugins that a request may use for as long as it is served. */
final class PluginUse extends Handler.Wrapper {
    private final PluginHost plugins;

    PluginUse(PluginHost plugins, Handler.Abstract.NonBlocking handler) {
        super(handler);
        this.plugins = plugins;
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        PluginHost.Use use = plugins.enter();
        boolean handled = false;
        try {
            handled = super.handle(request, response, Callback.from(callback, use::close));
            return handled;
        } finally {
            if (!handled) {
                use.close();
            }
        }
    }
}
