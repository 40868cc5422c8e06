package org.nemorelay.carrier.nats.internal;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;
import javax.net.ssl.X509TrustManager;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/**
 * TLS from PEM files, read again for every handshake. The server's name is checked, which the client library leaves to its
 * caller.
 *
 * @param ca the certificates to trust; empty for the JDK's own
 * @param own certificate chain and key of this client, for servers that ask for them
 */
record Tls(Optional<Path> ca, Optional<Own> own) {
    record Own(Path certificate, Path key) {}

    /** Empty when the configuration asks for no TLS. */
    static Optional<Tls> of(NatsCarrierConfig config, boolean secureAddress) {
        String where = "carrier " + config.carrier() + ": ";
        if (config.tls_cert().isEmpty() != config.tls_key().isEmpty()) {
            throw new RelayException(
                    FailureKind.CONFIGURATION, where + "tls_cert and tls_key belong together: give both or neither");
        }
        Optional<Path> ca = file(where, "tls_ca", config.tls_ca());
        Optional<Own> own = file(where, "tls_cert", config.tls_cert())
                .map(certificate -> new Own(
                        certificate, file(where, "tls_key", config.tls_key()).orElseThrow()));
        return secureAddress || ca.isPresent() || own.isPresent() ? Optional.of(new Tls(ca, own)) : Optional.empty();
    }

    private static Optional<Path> file(String where, String key, String value) {
        if (value.isEmpty()) {
            return Optional.empty();
        }
        Path path = Path.of(value);
        if (!Files.isReadable(path)) {
            throw new RelayException(
                    FailureKind.CONFIGURATION, where + key + " names " + path + ", which cannot be read");
        }
        return Optional.of(path);
    }

    SSLContext context() {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(new KeyManager[] {new Keys(own)}, new TrustManager[] {new Trust(ca)}, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new RelayException(FailureKind.CONFIGURATION, "TLS cannot be set up: " + e.getMessage(), e);
        }
    }

    private static List<X509Certificate> certificates(Path file) throws GeneralSecurityException, IOException {
        Collection<? extends Certificate> all = CertificateFactory.getInstance("X.509")
                .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(file)));
        if (all.isEmpty()) {
            throw new CertificateException(file + " holds no certificate");
        }
        return all.stream().map(X509Certificate.class::cast).toList();
    }

    private static PrivateKey key(Path file, String algorithm) throws GeneralSecurityException, IOException {
        String text = Files.readString(file, StandardCharsets.US_ASCII);
        int begin = text.indexOf("-----BEGIN PRIVATE KEY-----");
        int end = text.indexOf("-----END PRIVATE KEY-----");
        if (begin < 0 || end < begin) {
            throw new GeneralSecurityException(
                    file + " holds no key in PKCS #8: convert it with openssl pkcs8 -topk8 -nodes");
        }
        byte[] encoded = Base64.getMimeDecoder().decode(text.substring(text.indexOf('\n', begin), end));
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(encoded));
    }

    /** One alias, whose files are read when it is used. */
    private static final class Keys extends X509ExtendedKeyManager {
        private static final String ALIAS = "client";

        private final Optional<Own> own;

        private Keys(Optional<Own> own) {
            this.own = own;
        }

        @Override
        public String chooseClientAlias(String[] keyTypes, Principal[] issuers, Socket socket) {
            return own.isPresent() ? ALIAS : null;
        }

        @Override
        public String chooseEngineClientAlias(String[] keyTypes, Principal[] issuers, SSLEngine engine) {
            return own.isPresent() ? ALIAS : null;
        }

        @Override
        public String[] getClientAliases(String keyType, Principal[] issuers) {
            return own.isPresent() ? new String[] {ALIAS} : new String[0];
        }

        @Override
        public X509Certificate[] getCertificateChain(String alias) {
            try {
                return certificates(own.orElseThrow().certificate()).toArray(new X509Certificate[0]);
            } catch (GeneralSecurityException | IOException e) {
                throw new IllegalStateException(e.getMessage(), e);
            }
        }

        @Override
        public PrivateKey getPrivateKey(String alias) {
            try {
                String algorithm = getCertificateChain(alias)[0].getPublicKey().getAlgorithm();
                return key(own.orElseThrow().key(), algorithm);
            } catch (GeneralSecurityException | IOException e) {
                throw new IllegalStateException(e.getMessage(), e);
            }
        }

        @Override
        public String[] getServerAliases(String keyType, Principal[] issuers) {
            return new String[0];
        }

        @Override
        public String chooseServerAlias(String keyType, Principal[] issuers, Socket socket) {
            return null;
        }
    }

    /** Trusts what the file holds now, for the name that was dialled. */
    private static final class Trust extends X509ExtendedTrustManager {
        private final Optional<Path> ca;

        private Trust(Optional<Path> ca) {
            this.ca = ca;
        }

        private X509ExtendedTrustManager now() throws CertificateException {
            try {
                KeyStore store = null;
                if (ca.isPresent()) {
                    store = KeyStore.getInstance(KeyStore.getDefaultType());
                    store.load(null, null);
                    for (X509Certificate certificate : certificates(ca.get())) {
                        store.setCertificateEntry("ca" + store.size(), certificate);
                    }
                }
                TrustManagerFactory factory =
                        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
                factory.init(store);
                for (TrustManager manager : factory.getTrustManagers()) {
                    if (manager instanceof X509ExtendedTrustManager extended) {
                        return extended;
                    }
                }
                throw new CertificateException("the JDK has no trust manager");
            } catch (GeneralSecurityException | IOException e) {
                throw new CertificateException(e.getMessage(), e);
            }
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
                throws CertificateException {
            if (socket instanceof SSLSocket tls) {
                SSLParameters parameters = tls.getSSLParameters();
                parameters.setEndpointIdentificationAlgorithm("HTTPS");
                tls.setSSLParameters(parameters);
            }
            now().checkServerTrusted(chain, authType, socket);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
                throws CertificateException {
            now().checkServerTrusted(chain, authType, engine);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
            ((X509TrustManager) now()).checkServerTrusted(chain, authType);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
                throws CertificateException {
            throw new CertificateException("this is a client");
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
                throws CertificateException {
            throw new CertificateException("this is a client");
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
            throw new CertificateException("this is a client");
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
