package org.nemorelay.seams;

import org.nemorelay.protocol.FailureKind;

/** A subject outside the closed grammar of {@link Subjects}; the message quotes it. */
public abstract sealed class SubjectException extends SeamException
        permits UnservedSubjectException, UnsupportedWildcardException {
    private static final long serialVersionUID = 1L;

    SubjectException(String message) {
        super(FailureKind.INVALID_ARGUMENT, message);
    }
}
