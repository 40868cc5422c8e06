package org.nemorelay.carrier.nats.internal;

import io.nats.client.AuthHandler;
import io.nats.client.Options;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/**
 * How this client proves who it is. Every kind reads its file anew for each attempt to connect, so that a rotated secret
 * needs no restart. Nothing here is ever part of a message.
 */
sealed interface Credentials {
    /** Nobody is asked who he is. */
    record None() implements Credentials {}

    record Password(String user, Path file) implements Credentials {}

    record Token(Path file) implements Credentials {}

    record Seed(Path file) implements Credentials {}

    /** A user JWT and its seed, between the lines that nsc writes. */
    record Jwt(Path file) implements Credentials {}

    static Credentials of(NatsCarrierConfig config) {
        String where = "carrier " + config.carrier() + ": ";
        if (config.user().isEmpty() != config.password_file().isEmpty()) {
            throw new RelayException(
                    FailureKind.CONFIGURATION, where + "user and password_file belong together: give both or neither");
        }
        long kinds = Stream.of(config.user(), config.token_file(), config.nkey_file(), config.credentials_file())
                .filter(value -> !value.isEmpty())
                .count();
        if (kinds > 1) {
            throw new RelayException(
                    FailureKind.CONFIGURATION,
                    where + "give one of user, token_file, nkey_file and credentials_file, not " + kinds);
        }
        if (!config.user().isEmpty()) {
            return new Password(config.user(), Path.of(config.password_file()));
        }
        if (!config.token_file().isEmpty()) {
            return new Token(Path.of(config.token_file()));
        }
        if (!config.nkey_file().isEmpty()) {
            return new Seed(Path.of(config.nkey_file()));
        }
        return config.credentials_file().isEmpty() ? new None() : new Jwt(Path.of(config.credentials_file()));
    }

    /** Has the client ask for them at each attempt. */
    default void apply(Options.Builder options) {
        switch (this) {
            case None _, Password _ -> {}
            case Token token -> options.tokenSupplier(() -> read(token.file()).toCharArray());
            case Seed seed -> options.authHandler(new Signer(seed.file(), Optional.empty(), text -> text));
            case Jwt jwt ->
                options.authHandler(new Signer(
                        jwt.file(),
                        Optional.of(text -> between(jwt.file(), text, "NATS USER JWT")),
                        text -> between(jwt.file(), text, "USER NKEY SEED")));
        }
    }

    /** What stands before the host of a server's address, {@code user:password@}; the client takes it from there each time. */
    default String userInfo() {
        return switch (this) {
            case Password password -> encoded(password.user()) + ":" + encoded(read(password.file())) + "@";
            default -> "";
        };
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static String read(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new RelayException(FailureKind.CONFIGURATION, "cannot read the credentials in " + file);
        }
    }

    private static String between(Path file, String text, String what) {
        int begin = text.indexOf("-----BEGIN " + what + "-----");
        int end = text.indexOf("------END " + what + "------");
        if (begin < 0 || end < begin) {
            throw new RelayException(FailureKind.CONFIGURATION, file + " has no section " + what);
        }
        return text.substring(text.indexOf('\n', begin), end).strip();
    }

    /** A part of a credentials file. */
    interface Part {
        String of(String text);
    }

    /** The client asks for key, signature and JWT of one attempt in this order. */
    final class Signer implements AuthHandler {
        private final Path file;
        private final Optional<Part> jwt;
        private final Part seed;

        Signer(Path file, Optional<Part> jwt, Part seed) {
            this.file = file;
            this.jwt = jwt;
            this.seed = seed;
        }

        private NKey key() {
            return NKey.fromSeed(seed.of(read(file)), file.toString());
        }

        @Override
        public char[] getID() {
            return key().publicKey().toCharArray();
        }

        @Override
        public byte[] sign(byte[] nonce) {
            return key().sign(nonce);
        }

        @Override
        public char[] getJWT() {
            return jwt.map(part -> part.of(read(file))).orElse("").toCharArray();
        }
    }
}
