package org.nemorelay.carrier.direct.internal;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.ProxyDetector;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioSocketChannel;
import io.grpc.netty.shaded.io.netty.util.concurrent.FastThreadLocal;
import io.grpc.netty.shaded.io.netty.util.concurrent.FastThreadLocalThread;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Channels on one small group of threads, which ends with the carrier. */
final class Transport {
    private static final int MAX_MESSAGE = 64 << 20;
    private static final String SERVICE = "backend.Backend/";

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

    private final EventLoopGroup loops;
    /** Names are looked up apart from the transport's threads, and not on threads that outlive the carrier. */
    private final ExecutorService lookups = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("grpc-lookup").factory());

    Transport(int threads) {
        loops = visit(() -> new MultiThreadIoEventLoopGroup(threads, NioIoHandler.newFactory()));
    }

    /**
     * Does a step of gRPC on a thread that is somebody else's. What Netty keeps in a thread would hold the class loader of a
     * bundle that is gone for as long as that thread lives, so it is taken back; the transport's own threads keep it.
     */
    static <T> T visit(Supplier<T> step) {
        try {
            return step.get();
        } finally {
            if (!(Thread.currentThread() instanceof FastThreadLocalThread)) {
                FastThreadLocal.removeAll();
            }
        }
    }

    /** As above, for a step without a result. */
    static void visit(Runnable step) {
        visit(() -> {
            step.run();
            return true;
        });
    }

    /** A channel that dials when it is first used. Within a cluster no proxy stands in between. */
    ManagedChannel channel(String address) {
        ProxyDetector none = target -> null;
        return visit(() -> NettyChannelBuilder.forTarget("dns:///" + address)
                .channelType(NioSocketChannel.class)
                .eventLoopGroup(loops)
                .usePlaintext()
                .directExecutor()
                .offloadExecutor(lookups)
                .proxyDetector(none)
                .disableRetry()
                .disableServiceConfigLookUp()
                .maxInboundMessageSize(MAX_MESSAGE)
                .keepAliveTime(30, TimeUnit.SECONDS)
                .keepAliveTimeout(20, TimeUnit.SECONDS)
                .build());
    }

    static MethodDescriptor<byte[], byte[]> method(String name) {
        return MethodDescriptor.<byte[], byte[]>newBuilder(BYTES, BYTES)
                .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
                .setFullMethodName(SERVICE + name)
                .build();
    }

    static CallOptions options() {
        return CallOptions.DEFAULT;
    }

    void close() {
        lookups.close();
        visit(() -> loops.shutdownGracefully(0, 2, TimeUnit.SECONDS).awaitUninterruptibly(3, TimeUnit.SECONDS));
    }
}
