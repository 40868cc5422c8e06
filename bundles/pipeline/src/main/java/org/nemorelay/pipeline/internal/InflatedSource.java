package org.nemorelay.pipeline.internal;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.nemorelay.pipeline.ByteSource;

/** A stream in the content coding gzip or deflate, made plain as it comes. */
public final class InflatedSource implements ByteSource {
    private static final int FIXED_HEADER = 10;

    private final ByteSource source;
    private final boolean gzip;
    private Inflater inflater;
    private ByteArrayOutputStream header = new ByteArrayOutputStream();
    private boolean ended;

    public InflatedSource(ByteSource source, boolean gzip) {
        this.source = source;
        this.gzip = gzip;
    }

    @Override
    public CompletionStage<byte[]> read() {
        CompletableFuture<byte[]> plain = new CompletableFuture<>();
        read(plain);
        return plain;
    }

    private void read(CompletableFuture<byte[]> plain) {
        while (true) {
            CompletableFuture<byte[]> next = source.read().toCompletableFuture();
            if (!next.isDone()) {
                next.whenComplete((bytes, failure) -> {
                    if (!taken(bytes, failure, plain)) {
                        read(plain);
                    }
                });
                return;
            }
            boolean failed = next.isCompletedExceptionally();
            if (taken(failed ? END : next.resultNow(), failed ? next.exceptionNow() : null, plain)) {
                return;
            }
        }
    }

    private boolean taken(byte[] bytes, Throwable failure, CompletableFuture<byte[]> plain) {
        if (failure != null) {
            plain.completeExceptionally(failure);
            return true;
        }
        if (bytes.length == 0) {
            if (ended || inflater == null && header.size() == 0) {
                plain.complete(END);
            } else {
                plain.completeExceptionally(new IOException("the provider's compressed stream broke off"));
            }
            return true;
        }
        try {
            byte[] inflated = inflate(bytes);
            if (inflated.length == 0) {
                return false;
            }
            plain.complete(inflated);
        } catch (DataFormatException e) {
            plain.completeExceptionally(new IOException("the provider's stream is not what its content coding says"));
        }
        return true;
    }

    private byte[] inflate(byte[] bytes) throws DataFormatException {
        byte[] input = bytes;
        if (ended) {
            // The check sum behind gzip's data.
            return END;
        }
        if (inflater == null) {
            header.writeBytes(bytes);
            byte[] begun = header.toByteArray();
            int data = gzip ? dataAt(begun) : 0;
            if (data < 0 || begun.length < data + 2) {
                return END;
            }
            boolean zlib = !gzip && (begun[0] & 0x0f) == 8 && ((begun[0] & 0xff) << 8 | begun[1] & 0xff) % 31 == 0;
            inflater = new Inflater(!zlib);
            header = new ByteArrayOutputStream();
            input = java.util.Arrays.copyOfRange(begun, data, begun.length);
        }
        inflater.setInput(input);
        ByteArrayOutputStream plain = new ByteArrayOutputStream(input.length * 4);
        byte[] buffer = new byte[8192];
        while (!inflater.needsInput() && !inflater.finished()) {
            int count = inflater.inflate(buffer);
            if (count == 0 && (inflater.needsDictionary() || inflater.needsInput())) {
                break;
            }
            plain.write(buffer, 0, count);
        }
        if (inflater.finished()) {
            ended = true;
            inflater.end();
        }
        return plain.toByteArray();
    }

    /** Where the data begins behind gzip's header; negative while that is not all here. */
    private static int dataAt(byte[] begun) throws DataFormatException {
        if (begun.length < FIXED_HEADER) {
            return -1;
        }
        if ((begun[0] & 0xff) != 0x1f || (begun[1] & 0xff) != 0x8b || begun[2] != 8) {
            throw new DataFormatException("no gzip");
        }
        int flags = begun[3];
        int at = FIXED_HEADER;
        if ((flags & 4) != 0) {
            if (begun.length < at + 2) {
                return -1;
            }
            at += 2 + (begun[at] & 0xff) + ((begun[at + 1] & 0xff) << 8);
        }
        for (int text = 8; text <= 16; text *= 2) {
            if ((flags & text) != 0) {
                while (at < begun.length && begun[at] != 0) {
                    at++;
                }
                if (at >= begun.length) {
                    return -1;
                }
                at++;
            }
        }
        return (flags & 2) != 0 ? at + 2 : at;
    }

    @Override
    public void cancel() {
        source.cancel();
        Inflater open = inflater;
        if (open != null && !ended) {
            ended = true;
        }
    }
}
