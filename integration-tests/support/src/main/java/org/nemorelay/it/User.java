package org.nemorelay.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Base64;

/** A user of the relay: a home folder, a client token, and, where root runs the tests, a uid. */
public final class User {
    private final Path home;
    private final String token;
    private final int uid;

    private User(Path home, int uid) {
        byte[] secret = new byte[32];
        new SecureRandom().nextBytes(secret);
        this.token = Base64.getUrlEncoder().withoutPadding().encodeToString(secret);
        this.home = home;
        this.uid = uid;
    }

    /** The user that runs the tests, with a home folder of its own. */
    public static User self(Path home) {
        return new User(folder(home), -1);
    }

    /** Another real user; the tests must run as root. */
    public static User other(Path home, int uid) {
        folder(home);
        try {
            Files.setAttribute(home, "unix:uid", uid);
            Files.setAttribute(home, "unix:gid", uid);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new User(home, uid);
    }

    public Path home() {
        return home;
    }

    public String token() {
        return token;
    }

    /** The request header that carries the token. */
    public String header() {
        return "x-nemo-relay-client-token: " + token;
    }

    /** A process of this user with {@code HOME}, {@code PATH} and nothing else in its environment. */
    public Proc.Spec spec(String... command) {
        Proc.Spec spec = Proc.spec().command(command).env("HOME", home.toString());
        return uid < 0 ? spec : spec.asUid(uid);
    }

    /** The same with the token. */
    public Proc.Spec withToken(String... command) {
        return spec(command).env("NEMO_RELAY_CLIENT_TOKEN", token);
    }

    private static Path folder(Path home) {
        try {
            return Files.createDirectories(home);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
