package org.nemorelay.http.internal;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.channels.NetworkChannel;
import jdk.net.ExtendedSocketOptions;

/**
 * Has the kernel ask a silent peer whether it is still there. Nothing else would end an exchange with one that went
 * without a word: there is no total timeout, and silence alone is a model that thinks.
 */
final class KeepAlive {
    private static final int IDLE_SECONDS = 15;
    private static final int INTERVAL_SECONDS = 5;
    private static final int PROBES = 3;

    private KeepAlive() {}

    static void start(NetworkChannel channel) throws IOException {
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        if (channel.supportedOptions().contains(ExtendedSocketOptions.TCP_KEEPIDLE)) {
            channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, IDLE_SECONDS);
            channel.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, INTERVAL_SECONDS);
            channel.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, PROBES);
        }
    }
}
