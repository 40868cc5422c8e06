package org.nemorelay.it.fleet;

import java.nio.charset.StandardCharsets;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Publisher;
import org.nemorelay.seams.WorkConsumer;
import org.nemorelay.seams.WorkHandler;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.control.ControlHandler;
import org.nemorelay.seams.control.ControlServer.Need;
import org.nemorelay.seams.control.ControlServers;
import org.nemorelay.seams.control.ControlVerb;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceReference;

/** A bundle within a role whose handlers have a fault: a consumer with a limit of 1, one without, and a control verb. */
public final class FaultyBundle implements BundleActivator, Runnable {
    /** The node that the verb is of. */
    static final String NODE = "faulty";

    private BundleContext context;
    private Thread thread;

    @Override
    public void start(BundleContext started) {
        context = started;
        thread = Thread.ofPlatform().daemon().start(this);
    }

    @Override
    public void stop(BundleContext stopped) {
        thread.interrupt();
    }

    @Override
    public void run() {
        try {
            WorkConsumer consumer = service(WorkConsumer.class);
            consumer.consume(Context.background(), WorkKind.MCP_CI, 1, new Handler());
            consumer.consume(Context.background(), WorkKind.TASK, 0, new Handler());
            ControlServers servers = service(ControlServers.class);
            servers.controlServer(NODE)
                    .handle(ControlVerb.BACKEND_LIST, Need.MANDATORY, ControlHandler.noReply(new Handler()));
            System.err.println("faulty bundle serves");
        } catch (InterruptedException e) {
            // The process ends.
        }
    }

    private <T> T service(Class<T> type) throws InterruptedException {
        while (true) {
            ServiceReference<T> reference = context.getServiceReference(type);
            if (reference != null) {
                return context.getService(reference);
            }
            Thread.sleep(10);
        }
    }

    /** Says that it was called, and fails. */
    static final class Handler implements WorkHandler, Runnable {
        @Override
        public void handle(Context context, byte[] payload, Publisher events) {
            System.err.println("handled " + new String(payload, StandardCharsets.UTF_8));
            throw new IllegalStateException("a bug");
        }

        @Override
        public void run() {
            System.err.println("handled verb");
            throw new IllegalStateException("a bug");
        }
    }
}
