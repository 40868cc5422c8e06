package org.nemorelay.broker;

/**
 * Where an MCP process says its worker can be reached (relay-daemon 5.6).
 *
 * @param advertisedHost IPv4 address or DNS name
 * @param port 0 for any
 */
public record NetworkHint(String advertisedHost, int port) {
    /** Whether a worker with this network listens on loopback only, in cleartext. */
    public boolean loopback() {
        return advertisedHost.equals("localhost") || isLoopbackAddress(advertisedHost);
    }

    private static boolean isLoopbackAddress(String host) {
        if (!host.startsWith("127.")) {
            return false;
        }
        for (int i = 0; i < host.length(); i++) {
            char c = host.charAt(i);
            if (c != '.' && (c < '0' || c > '9')) {
                return false;
            }
        }
        return true;
    }
}
