package org.nemorelay.protocol;

import java.io.EOFException;
import java.io.FileNotFoundException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.NotLinkException;

/**
 * What lies behind a failure, as a part of a sentence for people: one line, without names of classes and without the
 * path that the sentence names already. Stateless.
 */
public final class Reasons {
    private static final int MAX_SAID = 500;

    private Reasons() {}

    /**
     * What the code of somebody else says, as a part of a line: of at most 500 characters, and without what begins another line,
     * moves a terminal's cursor or turns the direction of writing.
     */
    public static String said(String text) {
        StringBuilder said = new StringBuilder();
        boolean blank = false;
        for (int i = 0; i < text.length(); ) {
            int c = text.codePointAt(i);
            i += Character.charCount(c);
            switch (Character.getType(c)) {
                case Character.CONTROL,
                        Character.LINE_SEPARATOR,
                        Character.PARAGRAPH_SEPARATOR,
                        Character.FORMAT,
                        Character.SURROGATE -> blank = true;
                default -> {
                    if (said.length() + (blank ? 1 : 0) >= MAX_SAID) {
                        return said.append('…').toString();
                    }
                    said.append(blank && !said.isEmpty() ? " " : "").appendCodePoint(c);
                    blank = false;
                }
            }
        }
        return said.toString();
    }

    /** Why something could not be done that depends on the machine, its files or another party. */
    public static String of(Throwable failure) {
        String known = known(failure);
        if (!known.isEmpty()) {
            return known;
        }
        String message = failure.getMessage();
        Throwable cause = failure.getCause();
        if (cause != null && cause != failure && (message == null || message.equals(cause.toString()))) {
            return of(cause);
        }
        return message == null || message.isBlank() ? words(failure) : line(message);
    }

    /** What is to be reported of a defect of this program: a class and a place are what its developers look for. */
    public static String defect(Throwable defect) {
        StackTraceElement[] places = defect.getStackTrace();
        return line("internal error: " + defect + (places.length == 0 ? "" : " at " + places[0]));
    }

    private static String known(Throwable failure) {
        if (failure instanceof FileSystemException file) {
            return file(file);
        }
        if (failure instanceof FileNotFoundException && failure.getMessage() != null) {
            // java.io puts the path before its reason, in brackets.
            String message = failure.getMessage();
            int reason = message.lastIndexOf(" (");
            return reason >= 0 && message.endsWith(")") ? message.substring(reason + 2, message.length() - 1) : "";
        }
        if (failure instanceof UnknownHostException) {
            return "the name of the host is not known";
        }
        if (failure instanceof SocketTimeoutException) {
            return "no answer in time";
        }
        if (failure instanceof EOFException && failure.getMessage() == null) {
            return "it ended early";
        }
        if (failure instanceof ClosedChannelException) {
            return "the connection was closed";
        }
        if (failure instanceof CharacterCodingException) {
            return "it is not UTF-8 text";
        }
        return "";
    }

    private static String file(FileSystemException failure) {
        if (failure instanceof AccessDeniedException) {
            return "permission denied";
        }
        if (failure instanceof NoSuchFileException) {
            return "there is no such file or folder";
        }
        if (failure instanceof FileAlreadyExistsException) {
            return "it is there already";
        }
        if (failure instanceof NotDirectoryException) {
            return "it is not a folder";
        }
        if (failure instanceof DirectoryNotEmptyException) {
            return "the folder is not empty";
        }
        if (failure instanceof FileSystemLoopException) {
            return "its links lead in a circle";
        }
        if (failure instanceof NotLinkException) {
            return "it is not a link";
        }
        return failure.getReason() == null ? words(failure) : line(failure.getReason());
    }

    /** {@code ReadPendingException} says at least "read pending". */
    private static String words(Throwable failure) {
        String name = failure.getClass().getSimpleName();
        if (name.endsWith("Exception")) {
            name = name.substring(0, name.length() - "Exception".length());
        }
        StringBuilder words = new StringBuilder();
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            boolean begins = Character.isUpperCase(c)
                    && (i == 0 || Character.isLowerCase(name.charAt(i - 1)))
                    && (i + 1 == name.length() || Character.isLowerCase(name.charAt(i + 1)));
            words.append(begins && i > 0 ? " " : "").append(begins ? Character.toLowerCase(c) : c);
        }
        return words.isEmpty() ? "an unnamed failure" : words.toString();
    }

    private static String line(String text) {
        StringBuilder line = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean blank = Character.isISOControl(c);
            if (!blank || line.length() > 0 && line.charAt(line.length() - 1) != ' ') {
                line.append(blank ? ' ' : c);
            }
        }
        return line.toString().strip();
    }
}
