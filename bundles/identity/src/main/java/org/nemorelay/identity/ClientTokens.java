package org.nemorelay.identity;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.identity.internal.FileStatus;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.RouteToken;
import org.nemorelay.protocol.control.Ids;

/**
 * The user's client token in the environment or in its file (relay-daemon 4.5). Unlike keys, a token file with loose
 * permissions is refused, never repaired.
 */
public final class ClientTokens {
    public static final String VARIABLE = "NEMO_RELAY_CLIENT_TOKEN";
    private static final int MAX_BYTES = 128;
    private static final String ENSURE = "`nemo-relay daemon token ensure`";
    private static final String ANEW = "remove it and run " + ENSURE;

    private final Path file;
    private final EffectiveUser user;

    ClientTokens(Path file, EffectiveUser user) {
        this.file = file;
        this.user = user;
    }

    /** Where a token came from. */
    public enum Source {
        ENV,
        FILE,
        NONE;

        /** The word in log events. */
        public String word() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    /** Why a place that holds something does not hold a usable token. */
    public enum Problem {
        INVALID_VALUE("invalid_value", "does not hold a client token, which is 43 characters of base64url", ANEW),
        SYMLINK("symlink", "is a link", "put the file itself there"),
        NOT_REGULAR("not_regular", "is not a regular file", ANEW),
        FOREIGN_OWNER("foreign_owner", "belongs to another user", ANEW),
        LOOSE_PERMISSIONS("insecure_permissions", "is open to others; its mode must be 0600 or 0400", "chmod 600"),
        TOO_LARGE("too_large", "holds more than " + MAX_BYTES + " bytes", ANEW),
        UNREADABLE("unreadable", "cannot be read", "give yourself access to it");

        private final String word;
        private final String sentence;
        private final String remedy;

        Problem(String word, String sentence, String remedy) {
            this.word = word;
            this.sentence = sentence;
            this.remedy = remedy;
        }

        /** The word in log events. */
        public String word() {
            return word;
        }
    }

    /**
     * A place that was passed over.
     *
     * @param file empty for the environment
     */
    public record Skipped(Source source, Problem problem, Optional<Path> file) {
        /** Which place, what is wrong with it, and what to do. */
        public String sentence() {
            if (file.isEmpty()) {
                return VARIABLE + " " + problem.sentence + ": correct it, or unset it and run " + ENSURE;
            }
            return file.get() + " " + problem.sentence + ": " + problem.remedy
                    + (problem == Problem.LOOSE_PERMISSIONS ? " " + file.get() : "");
        }
    }

    /** The token to use, with the places that were passed over on the way to it. */
    public record Resolved(Optional<RouteToken> token, Source source, List<Skipped> skipped) {
        public Resolved {
            skipped = List.copyOf(skipped);
        }

        /** Why there is no token, where something that might have been one was passed over; empty where nothing was. */
        public String reasons() {
            StringBuilder reasons = new StringBuilder();
            for (Skipped place : skipped) {
                reasons.append(reasons.isEmpty() ? "" : "; ").append(place.sentence());
            }
            return reasons.toString();
        }
    }

    /** What {@link #ensure()} found or made. */
    public record Ensured(boolean created, Path path) {
        /** The word in the command's JSON output. */
        public String status() {
            return created ? "created" : "existing";
        }
    }

    /** A valid token in {@value #VARIABLE}, else a valid token file, else none. Never fails; reads the file only when needed. */
    public Resolved resolve(Map<String, String> environment) {
        return resolve(environment, List.of(this));
    }

    /**
     * The same over the folders that the environment names. A harness may give {@code XDG_CONFIG_HOME} to some of its
     * processes only, so {@code $HOME/.config} counts beside it; {@link FailureKind#CONFIGURATION} when the two hold different
     * tokens.
     */
    public static Resolved inEnvironment(Map<String, String> environment) {
        if (RouteToken.parse(environment.getOrDefault(VARIABLE, "")).isPresent()) {
            return resolve(environment, List.of());
        }
        return resolve(environment, places(environment));
    }

    private static List<ClientTokens> places(Map<String, String> environment) {
        List<ClientTokens> places = new ArrayList<>(2);
        for (StateFolder folder : StateFolder.candidates(environment)) {
            places.add(folder.clientTokens());
        }
        return places;
    }

    private static Resolved resolve(Map<String, String> environment, List<ClientTokens> places) {
        List<Skipped> skipped = new ArrayList<>();
        String value = environment.getOrDefault(VARIABLE, "");
        if (!value.isEmpty()) {
            Optional<RouteToken> token = RouteToken.parse(value);
            if (token.isPresent()) {
                return new Resolved(token, Source.ENV, skipped);
            }
            skipped.add(new Skipped(Source.ENV, Problem.INVALID_VALUE, Optional.empty()));
        }
        Optional<RouteToken> token = Optional.empty();
        Path found = null;
        for (ClientTokens place : places) {
            Content content = place.read();
            if (content.problem.isPresent()) {
                skipped.add(new Skipped(Source.FILE, content.problem.get(), Optional.of(place.file)));
            }
            if (content.token.isEmpty()) {
                continue;
            }
            if (token.isPresent()
                    && !token.get().text().equals(content.token.get().text())) {
                throw new RelayException(
                        FailureKind.CONFIGURATION,
                        found + " and " + place.file
                                + " hold different client tokens; remove the one that is not in use");
            }
            token = content.token;
            found = place.file;
        }
        return new Resolved(token, token.isPresent() ? Source.FILE : Source.NONE, skipped);
    }

    /**
     * {@link #ensure()} in the folder of the environment. A new file takes over the token of the other folder that the
     * environment names, if there is one; {@link FailureKind#CONFIGURATION} when the two hold different tokens.
     */
    public static Ensured ensure(Map<String, String> environment) {
        StateFolder folder = StateFolder.of(environment);
        Optional<RouteToken> present = resolve(Map.of(), places(environment)).token();
        return folder.clientTokens().ensure(present);
    }

    /**
     * Creates the token file when there is none. Racing callers agree on one token: it is published by a hard link, which
     * never replaces. Root is refused, and so is a file or folder that is not the user's alone: it stays untouched.
     */
    public Ensured ensure() {
        return ensure(Optional.empty());
    }

    private Ensured ensure(Optional<RouteToken> known) {
        if (user.root()) {
            throw new RelayException(
                    FailureKind.CONFIGURATION,
                    "refusing to create a client token as root; run `nemo-relay daemon token ensure` as the user who runs"
                            + " the coding agent");
        }
        PrivateFiles files = new PrivateFiles(user);
        try {
            Path folder = file.toAbsolutePath().getParent();
            if (FileStatus.of(folder).isEmpty()) {
                PrivateFiles.createFolders(folder);
            }
            ownFolder(folder);
            if (!existing()) {
                String token = known.isPresent()
                        ? known.get().text()
                        : new Ids().secret().text();
                Path temporary = files.temporary(file, (token + "\n").getBytes(StandardCharsets.US_ASCII));
                try {
                    Files.createLink(file, temporary);
                } catch (FileAlreadyExistsException e) {
                    existing();
                    return new Ensured(false, file);
                } finally {
                    Files.deleteIfExists(temporary);
                }
                files.syncFolder(file);
                return new Ensured(true, file);
            }
            return new Ensured(false, file);
        } catch (IOException e) {
            throw PrivateFiles.failed(file, "cannot be created", e);
        }
    }

    /** Whether a usable file is there; an unusable one is a failure. */
    private boolean existing() {
        Content content = read();
        if (content.problem.isPresent()) {
            throw PrivateFiles.failed(
                    file,
                    content.problem.get().sentence
                            + "; it was left as it is: review and remove it, then run `nemo-relay daemon token"
                            + " ensure` again");
        }
        return content.token.isPresent();
    }

    private void ownFolder(Path folder) throws IOException {
        FileStatus status = FileStatus.of(folder).orElseThrow(() -> PrivateFiles.failed(folder, "vanished"));
        if (status.link()) {
            // A link to a folder is a common set-up; what counts is whose folder it leads to.
            status = FileStatus.of(folder.toRealPath()).orElseThrow(() -> PrivateFiles.failed(folder, "vanished"));
        }
        if (!status.directory()) {
            throw PrivateFiles.failed(folder, "is not a folder");
        }
        if (status.uid() != user.uid()) {
            throw PrivateFiles.failed(folder, "belongs to another user; a client token cannot be kept there");
        }
        if (status.writableByOthers()) {
            throw PrivateFiles.failed(
                    folder, "is writable by others; a client token cannot be kept there: chmod go-w " + folder);
        }
    }

    private record Content(Optional<RouteToken> token, Optional<Problem> problem) {}

    private Content read() {
        try {
            Optional<FileStatus> found = FileStatus.of(file);
            if (found.isEmpty()) {
                return new Content(Optional.empty(), Optional.empty());
            }
            FileStatus status = found.get();
            if (status.link()) {
                return problem(Problem.SYMLINK);
            }
            if (!status.regular()) {
                return problem(Problem.NOT_REGULAR);
            }
            if (status.uid() != user.uid()) {
                return problem(Problem.FOREIGN_OWNER);
            }
            if (status.open()) {
                return problem(Problem.LOOSE_PERMISSIONS);
            }
            if (status.size() > MAX_BYTES) {
                return problem(Problem.TOO_LARGE);
            }
            try (FileChannel channel = FileChannel.open(file, PrivateFiles.options(StandardOpenOption.READ))) {
                Optional<FileStatus> now = FileStatus.of(file);
                if (now.isEmpty() || !now.get().sameFile(status)) {
                    return problem(Problem.UNREADABLE);
                }
                return parse(PrivateFiles.readAll(file, channel, MAX_BYTES));
            }
        } catch (IOException | RelayException e) {
            return problem(Problem.UNREADABLE);
        }
    }

    /** One line ending is allowed, LF or CRLF. */
    private static Content parse(byte[] content) {
        String text = new String(content, StandardCharsets.ISO_8859_1);
        if (text.endsWith("\n")) {
            text = text.substring(0, text.length() - (text.endsWith("\r\n") ? 2 : 1));
        }
        Optional<RouteToken> token = RouteToken.parse(text);
        return token.isPresent() ? new Content(token, Optional.empty()) : problem(Problem.INVALID_VALUE);
    }

    private static Content problem(Problem problem) {
        return new Content(Optional.empty(), Optional.of(problem));
    }
}
