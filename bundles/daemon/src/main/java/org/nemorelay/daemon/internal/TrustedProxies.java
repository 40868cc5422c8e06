package org.nemorelay.daemon.internal;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/**
 * The proxies in front of the daemon whose word about their clients counts. From every other peer
 * {@code X-Forwarded-For} is text that anybody may write, and is not looked at. Immutable.
 */
final class TrustedProxies {
    private final List<Network> networks;

    private record Network(byte[] address, int bits) {
        boolean contains(InetAddress candidate) {
            byte[] given = candidate.getAddress();
            if (given.length != address.length) {
                return false;
            }
            for (int i = 0; i < bits; i++) {
                int mask = 0x80 >> (i & 7);
                if ((given[i >> 3] & mask) != (address[i >> 3] & mask)) {
                    return false;
                }
            }
            return true;
        }
    }

    private TrustedProxies(List<Network> networks) {
        this.networks = networks;
    }

    /**
     * Addresses and networks ({@code 10.0.0.0/8}), separated by commas; none for an empty text.
     *
     * @throws RelayException CONFIGURATION for one that is neither
     */
    static TrustedProxies parse(String text) {
        List<Network> networks = new ArrayList<>();
        for (String part : text.isBlank() ? new String[0] : text.split(",")) {
            networks.add(network(part.strip()));
        }
        return new TrustedProxies(List.copyOf(networks));
    }

    /** Who is behind a connection: the nearest address that is no trusted proxy, as far as their words reach. */
    InetAddress client(InetAddress connected, HttpFields headers) {
        if (!trusted(connected)) {
            return connected;
        }
        InetAddress client = connected;
        List<String> hops = headers.getCSV(HttpHeader.X_FORWARDED_FOR, false);
        for (int i = hops.size() - 1; i >= 0 && trusted(client); i--) {
            try {
                client = InetAddress.ofLiteral(withoutPort(hops.get(i).strip()));
            } catch (IllegalArgumentException e) {
                return client;
            }
        }
        return client;
    }

    private boolean trusted(InetAddress address) {
        return networks.stream().anyMatch(network -> network.contains(address));
    }

    private static String withoutPort(String hop) {
        if (hop.startsWith("[")) {
            int end = hop.indexOf(']');
            return end < 0 ? hop : hop.substring(1, end);
        }
        int colon = hop.indexOf(':');
        return colon > 0 && colon == hop.lastIndexOf(':') ? hop.substring(0, colon) : hop;
    }

    private static Network network(String text) {
        int slash = text.indexOf('/');
        try {
            byte[] address = InetAddress.ofLiteral(slash < 0 ? text : text.substring(0, slash))
                    .getAddress();
            int bits = slash < 0 ? address.length * 8 : Integer.parseInt(text.substring(slash + 1));
            if (bits >= 0 && bits <= address.length * 8) {
                return new Network(address, bits);
            }
        } catch (IllegalArgumentException e) {
            // Said below.
        }
        throw new RelayException(
                FailureKind.CONFIGURATION,
                "trusted_proxies: \"" + text + "\" is neither an IP address nor a network such as 10.0.0.0/8");
    }
}
