package org.nemorelay.seams;

/** The subject has an empty token, or its root is in neither closed set. */
public final class UnservedSubjectException extends SubjectException {
    private static final long serialVersionUID = 1L;

    UnservedSubjectException(String message) {
        super(message);
    }
}
