package org.nemorelay.it.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpURI;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.http.MetaData;
import org.eclipse.jetty.http2.ErrorCode;
import org.eclipse.jetty.http2.api.Session;
import org.eclipse.jetty.http2.api.Stream;
import org.eclipse.jetty.http2.client.HTTP2Client;
import org.eclipse.jetty.http2.frames.DataFrame;
import org.eclipse.jetty.http2.frames.HeadersFrame;
import org.eclipse.jetty.http2.frames.ResetFrame;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.component.LifeCycle;
import org.nemorelay.it.RawHttp;

/** Clients that show what is on the wire, frame by frame or chunk by chunk. Each call has a connection of its own. */
final class Clients implements AutoCloseable {
    private static final long LIMIT_SECONDS = 330;

    private final HTTP2Client http2 = new HTTP2Client();

    Clients() {
        http2.setIdleTimeout(0);
        http2.setStreamIdleTimeout(0);
        LifeCycle.start(http2);
    }

    /** Sends a head whose body follows; headers are lines. Without a {@code content-length} the body is not sized. */
    Call post(Version version, int port, String target, String... headers) throws IOException {
        return switch (version) {
            case HTTP_1_1 -> new Http1Call(port, target, headers);
            case H2C -> new Http2Call(connect(port), port, target, headers);
        };
    }

    private Session connect(int port) throws IOException {
        return await(http2.connect(new InetSocketAddress("127.0.0.1", port), new Session.Listener() {}));
    }

    @Override
    public void close() {
        LifeCycle.stop(http2);
    }

    private static <T> T await(CompletableFuture<T> future) throws IOException {
        try {
            return future.get(LIMIT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new IOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static final class Http1Call implements Call {
        private final RawHttp http;
        private final boolean sized;
        private RawHttp.Answer head;
        private long left;

        Http1Call(int port, String target, String... headers) {
            http = new RawHttp(port, Duration.ofSeconds(LIMIT_SECONDS));
            sized = List.of(headers).stream().anyMatch(header -> header.startsWith("content-length:"));
            StringBuilder text = new StringBuilder("POST " + target + " HTTP/1.1\r\nhost: 127.0.0.1\r\n");
            for (String header : headers) {
                text.append(header).append("\r\n");
            }
            http.write(bytes(text + (sized ? "\r\n" : "transfer-encoding: chunked\r\n\r\n")));
        }

        private static byte[] bytes(String text) {
            return text.getBytes(StandardCharsets.ISO_8859_1);
        }

        @Override
        public Call data(byte[] data) throws IOException {
            try {
                if (sized) {
                    http.write(data);
                } else if (data.length > 0) {
                    http.write(bytes(Integer.toHexString(data.length) + "\r\n"))
                            .write(data)
                            .write(bytes("\r\n"));
                }
            } catch (UncheckedIOException e) {
                throw e.getCause();
            }
            return this;
        }

        @Override
        public Call end(String... trailers) throws IOException {
            StringBuilder end = new StringBuilder("0\r\n");
            for (String trailer : trailers) {
                end.append(trailer).append("\r\n");
            }
            try {
                if (!sized) {
                    http.write(bytes(end + "\r\n"));
                }
            } catch (UncheckedIOException e) {
                throw e.getCause();
            }
            return this;
        }

        @Override
        public Head head() throws IOException {
            try {
                head = http.head();
            } catch (UncheckedIOException e) {
                throw e.getCause();
            }
            left = head.header("content-length").stream()
                    .mapToLong(Long::parseLong)
                    .findFirst()
                    .orElse(0);
            return new Head(head.status(), head.headers());
        }

        @Override
        public byte[] read() throws IOException {
            if (head == null) {
                head();
            }
            try {
                if (head.header("transfer-encoding").contains("chunked")) {
                    return http.chunk();
                }
                byte[] more = http.some((int) Math.min(left, 65_536));
                if (more.length == 0 && left > 0) {
                    throw new IOException("end of input, " + left + " bytes early");
                }
                left -= more.length;
                return more;
            } catch (UncheckedIOException e) {
                throw e.getCause();
            }
        }

        @Override
        public List<String> trailers() {
            return http.trailers().stream()
                    .map(line -> line.substring(0, line.indexOf(':')).toLowerCase(Locale.ROOT)
                            + line.substring(line.indexOf(':')))
                    .toList();
        }

        @Override
        public void close() {
            http.close();
        }
    }

    private static final class Http2Call implements Call, Stream.Listener {
        private sealed interface Event {}

        private record Answered(MetaData.Response head) implements Event {}

        private record Data(byte[] bytes) implements Event {}

        private record Ended() implements Event {}

        private record Broken(String reason) implements Event {}

        private final Session session;
        private final Stream stream;
        private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
        private final List<String> trailers = new ArrayList<>();
        private final boolean ended;
        private boolean answered;

        Http2Call(Session session, int port, String target, String... headers) throws IOException {
            this.session = session;
            HttpFields.Mutable fields = HttpFields.build();
            for (String header : headers) {
                int colon = header.indexOf(':');
                fields.add(
                        header.substring(0, colon), header.substring(colon + 1).strip());
            }
            MetaData.Request request = new MetaData.Request(
                    "POST", HttpURI.from("http://127.0.0.1:" + port + target), HttpVersion.HTTP_2, fields);
            // As in HTTP/1.1, an empty body ends with its head; sent later, its end would meet an early answer's reset.
            ended = "0".equals(fields.get("content-length"));
            stream = await(session.newStream(new HeadersFrame(request, null, ended), this));
        }

        @Override
        public void onHeaders(Stream stream, HeadersFrame frame) {
            if (frame.getMetaData() instanceof MetaData.Response response) {
                if (response.getStatus() < 200) {
                    return;
                }
                events.add(new Answered(response));
                if (!frame.isEndStream()) {
                    stream.demand();
                }
            } else {
                frame.getMetaData()
                        .getHttpFields()
                        .forEach(field -> trailers.add(field.getLowerCaseName() + ": " + field.getValue()));
            }
            if (frame.isEndStream()) {
                events.add(new Ended());
            }
        }

        @Override
        public void onDataAvailable(Stream stream) {
            Stream.Data data = stream.readData();
            if (data == null) {
                stream.demand();
                return;
            }
            ByteBuffer buffer = data.frame().getByteBuffer();
            byte[] bytes = new byte[buffer.remaining()];
            buffer.get(bytes);
            boolean last = data.frame().isEndStream();
            data.release();
            if (bytes.length > 0) {
                events.add(new Data(bytes));
            }
            if (last) {
                events.add(new Ended());
            } else {
                stream.demand();
            }
        }

        @Override
        public void onReset(Stream stream, ResetFrame frame, Callback callback) {
            events.add(new Broken("reset with " + ErrorCode.toString(frame.getError(), "an unknown code")));
            callback.succeeded();
        }

        @Override
        public void onFailure(Stream stream, int error, String reason, Throwable failure, Callback callback) {
            events.add(new Broken(reason + " " + failure));
            callback.succeeded();
        }

        @Override
        public Call data(byte[] data) throws IOException {
            await(stream.data(new DataFrame(stream.getId(), ByteBuffer.wrap(data), false)));
            return this;
        }

        @Override
        public Call end(String... lines) throws IOException {
            if (ended) {
                return this;
            }
            if (lines.length == 0) {
                await(stream.data(new DataFrame(stream.getId(), ByteBuffer.allocate(0), true)));
            } else {
                HttpFields.Mutable fields = HttpFields.build();
                for (String line : lines) {
                    int colon = line.indexOf(':');
                    fields.add(
                            line.substring(0, colon), line.substring(colon + 1).strip());
                }
                await(stream.headers(
                        new HeadersFrame(stream.getId(), new MetaData(HttpVersion.HTTP_2, fields), null, true)));
            }
            return this;
        }

        private Event next() throws IOException {
            try {
                Event event = events.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
                if (event == null) {
                    throw new IOException("nothing arrived within " + LIMIT_SECONDS + " s");
                }
                return event;
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public Head head() throws IOException {
            answered = true;
            return switch (next()) {
                case Answered(MetaData.Response head) ->
                    new Head(
                            head.getStatus(),
                            head.getHttpFields().stream()
                                    .map(field -> Map.entry(field.getName(), String.valueOf(field.getValue())))
                                    .toList());
                case Broken(String reason) -> throw new IOException(reason);
                case Data _, Ended _ -> throw new IOException("a body without a head");
            };
        }

        @Override
        public byte[] read() throws IOException {
            if (!answered) {
                head();
            }
            return switch (next()) {
                case Data(byte[] bytes) -> bytes;
                case Ended _ -> new byte[0];
                case Broken(String reason) -> throw new IOException(reason);
                case Answered _ -> throw new IOException("a second head");
            };
        }

        @Override
        public List<String> trailers() {
            return List.copyOf(trailers);
        }

        @Override
        public void close() {
            if (!stream.isClosed()) {
                stream.reset(new ResetFrame(stream.getId(), ErrorCode.CANCEL_STREAM_ERROR.code), Callback.NOOP);
            }
            session.close(ErrorCode.NO_ERROR.code, "done", Callback.NOOP);
        }
    }
}
