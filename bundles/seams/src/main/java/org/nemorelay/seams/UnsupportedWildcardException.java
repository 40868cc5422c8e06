package org.nemorelay.seams;

/** The subject has a wildcard other than a whole single token {@code *} after the root. */
public final class UnsupportedWildcardException extends SubjectException {
    private static final long serialVersionUID = 1L;

    UnsupportedWildcardException(String message) {
        super(message);
    }
}
