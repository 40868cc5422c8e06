package org.nemorelay.http.internal;

import java.security.KeyStore;
import java.security.cert.CRL;
import java.util.Collection;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.nemorelay.identity.StrictTrust;

/** The client's side of TLS, with {@link StrictTrust}. */
final class StrictTls extends SslContextFactory.Client {
    @Override
    protected TrustManager[] getTrustManagers(KeyStore trusted, Collection<? extends CRL> revoked) throws Exception {
        TrustManager[] managers = super.getTrustManagers(trusted, revoked);
        for (int i = 0; i < managers.length; i++) {
            if (managers[i] instanceof X509ExtendedTrustManager java) {
                managers[i] = new StrictTrust(java);
            }
        }
        return managers;
    }
}
