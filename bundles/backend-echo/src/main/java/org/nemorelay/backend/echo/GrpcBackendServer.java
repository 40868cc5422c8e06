package org.nemorelay.backend.echo;

import io.grpc.HandlerRegistry;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.concurrent.TimeUnit;
import org.nemorelay.backend.echo.internal.ServedCall;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.dial.BackendService;

/** A backend's service on a port, over gRPC without TLS. Each call has a virtual thread. */
public final class GrpcBackendServer implements Registration {
    private static final String SERVICE = "backend.Backend/";
    private static final int MAX_MESSAGE = 64 << 20;
    private static final Metadata.Key<String> AUTHORIZATION =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    private static final MethodDescriptor.Marshaller<byte[]> BYTES = new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(byte[] message) {
            return new ByteArrayInputStream(message);
        }

        @Override
        public byte[] parse(InputStream message) {
            try {
                return message.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    };

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final Server server;

    private GrpcBackendServer(InetSocketAddress address, BackendService service, String token) throws IOException {
        server = NettyServerBuilder.forAddress(address)
                .channelType(NioServerSocketChannel.class)
                .bossEventLoopGroup(loops)
                .workerEventLoopGroup(loops)
                .directExecutor()
                .maxInboundMessageSize(MAX_MESSAGE)
                .permitKeepAliveTime(1, TimeUnit.SECONDS)
                .permitKeepAliveWithoutCalls(true)
                .fallbackHandlerRegistry(new Methods(service, token))
                .build();
        try {
            server.start();
        } catch (IOException e) {
            loops.shutdownGracefully(0, 0, TimeUnit.SECONDS);
            throw e;
        }
    }

    /**
     * @param token what callers must show as bearer; empty for none
     * @throws IOException when the address cannot be bound
     */
    public static GrpcBackendServer open(InetSocketAddress address, BackendService service, String token)
            throws IOException {
        return new GrpcBackendServer(address, service, token);
    }

    /** The port that is bound, also when any was asked for. */
    public int port() {
        return server.getPort();
    }

    /** Breaks running calls off. */
    @Override
    public void close() {
        server.shutdownNow();
        try {
            server.awaitTermination(5, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }

    /** Every method, by its name. */
    private static final class Methods extends HandlerRegistry implements ServerCallHandler<byte[], byte[]> {
        private final BackendService service;
        private final byte[] authorization;

        private Methods(BackendService service, String token) {
            this.service = service;
            this.authorization = token.isEmpty() ? new byte[0] : bytes("Bearer " + token);
        }

        private static byte[] bytes(String text) {
            return text.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public ServerMethodDefinition<?, ?> lookupMethod(String name, String authority) {
            if (!name.startsWith(SERVICE)) {
                return null; // UNIMPLEMENTED, in gRPC's own interface.
            }
            return ServerMethodDefinition.create(
                    MethodDescriptor.<byte[], byte[]>newBuilder(BYTES, BYTES)
                            .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
                            .setFullMethodName(name)
                            .build(),
                    this);
        }

        @Override
        public ServerCall.Listener<byte[]> startCall(ServerCall<byte[], byte[]> call, Metadata headers) {
            String shown = headers.get(AUTHORIZATION);
            if (authorization.length > 0 && !MessageDigest.isEqual(authorization, bytes(shown == null ? "" : shown))) {
                call.close(Status.UNAUTHENTICATED.withDescription("the token is missing or wrong"), new Metadata());
                return new ServerCall.Listener<>() {};
            }
            String method = call.getMethodDescriptor().getFullMethodName().substring(SERVICE.length());
            return new ServedCall(method, call).start(service);
        }
    }
}
