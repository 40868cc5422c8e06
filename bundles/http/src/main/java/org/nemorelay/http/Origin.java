package org.nemorelay.http;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.Optional;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/**
 * Scheme, host and port of a server. Parse once and keep: the forwarder pools connections by it.
 *
 * @param uri {@code scheme://host:port} without a path
 * @param authority what the {@code Host} header says: the port is left out where it is the scheme's own
 * @param onlyRoot the one root that vouches for it, as base64url of its DER; the trusted authorities where it is absent
 */
public record Origin(URI uri, String authority, Optional<String> onlyRoot) {
    /**
     * The origin of an absolute http or https URL; path and query are ignored.
     *
     * @throws RelayException INVALID_ARGUMENT for anything else
     */
    public static Origin of(String url) {
        try {
            URI given = new URI(url);
            String scheme = given.getScheme() == null ? "" : given.getScheme().toLowerCase(Locale.ROOT);
            if ((scheme.equals("http") || scheme.equals("https")) && given.getHost() != null) {
                int usual = scheme.equals("http") ? 80 : 443;
                int port = given.getPort() < 0 ? usual : given.getPort();
                String host = given.getHost().toLowerCase(Locale.ROOT);
                return new Origin(
                        new URI(scheme, null, host, port, null, null, null),
                        port == usual ? host : host + ":" + port,
                        Optional.empty());
            }
        } catch (URISyntaxException e) {
            // Told below: the URL itself may hold a secret, so the parser's message is not repeated.
        }
        throw new RelayException(FailureKind.INVALID_ARGUMENT, "an upstream must be an absolute http or https URL");
    }

    /** The same server, with connections of its own, which only this root vouches for. */
    public Origin vouchedBy(String rootCertificate) {
        return new Origin(uri, authority, Optional.of(rootCertificate));
    }

    public boolean secure() {
        return uri.getScheme().equals("https");
    }

    @Override
    public String toString() {
        return uri.toString();
    }
}
