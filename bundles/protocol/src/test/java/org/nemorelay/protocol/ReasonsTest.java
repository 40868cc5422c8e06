package org.nemorelay.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.UnknownHostException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ReadPendingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

class ReasonsTest {
    @Test
    void theReasonAloneIsTold() {
        assertEquals("permission denied", Reasons.of(new AccessDeniedException("/a")));
        assertEquals("there is no such file or folder", Reasons.of(new NoSuchFileException("/a")));
        assertEquals("Read-only file system", Reasons.of(new FileSystemException("/a", null, "Read-only file system")));
        assertEquals("Permission denied", Reasons.of(new FileNotFoundException("/a (b) (Permission denied)")));
        assertEquals("the name of the host is not known", Reasons.of(new UnknownHostException("relay.example")));
        assertEquals("the connection was closed", Reasons.of(new AsynchronousCloseException()));
        assertEquals("it ended early", Reasons.of(new EOFException()));
        assertEquals("Connection reset", Reasons.of(new IOException("Connection reset")));
    }

    @Test
    void whatHasNoMessageIsStillTold() {
        assertEquals("file system", Reasons.of(new FileSystemException("/a")));
        assertEquals("read pending", Reasons.of(new ReadPendingException()));
        assertEquals("IO", Reasons.of(new IOException()));
        assertEquals("an unnamed failure", Reasons.of(new Exception() {
            private static final long serialVersionUID = 1L;
        }));
    }

    @Test
    void whatOnlyWrapsIsOpened() {
        assertEquals("permission denied", Reasons.of(new UncheckedIOException(new AccessDeniedException("/a"))));
        assertEquals("Broken pipe", Reasons.of(new ExecutionException(new IOException("Broken pipe"))));
        assertEquals("kept", Reasons.of(new IOException("kept", new IOException("deeper"))));
    }

    @Test
    void manyLinesBecomeOne() {
        assertEquals("a b c", Reasons.of(new IOException("a\r\nb\n\tc\n")));
        String defect = Reasons.defect(new IllegalStateException("made\nup"));
        assertTrue(
                defect.startsWith("internal error: java.lang.IllegalStateException: made up at org.nemorelay."),
                defect);
    }

    /** It may be megabytes, or move the cursor of who reads it. */
    @Test
    void whatSomebodyElseSaysIsPartOfOneLine() {
        assertEquals("a b c d", Reasons.said("a\r\n\tb\u001b\u009bc\u202e\u2028\ud800d\n"));
        assertEquals("ä\ud83d\ude00", Reasons.said("\nä\ud83d\ude00"));
        assertEquals("x".repeat(500), Reasons.said("x".repeat(500)));
        assertEquals("x".repeat(500) + "…", Reasons.said("x".repeat(5_000_000)));
    }
}
