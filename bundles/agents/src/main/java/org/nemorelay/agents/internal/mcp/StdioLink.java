package org.nemorelay.agents.internal.mcp;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.TimedOutException;

/** MCP over the standard streams of a process, one message a line. The process ends with the link. */
final class StdioLink implements McpLink {
    private static final int MAX_LINE = 16 << 20;
    private static final int TAIL = 5;
    private static final Duration END = Duration.ofSeconds(2);

    private final String server;
    private final Process process;
    private final OutputStream out;
    private final Thread reader;
    private final Thread logReader;
    private final Deque<String> tail = new ArrayDeque<>();

    // Guarded by this.
    private final Map<Long, CompletableFuture<JsonObject>> waiting = new HashMap<>();
    private long last;
    private boolean ended;

    /** @throws McpException when the process cannot be started */
    StdioLink(String server, List<String> command, Map<String, String> environment) throws McpException {
        this.server = server;
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(environment);
        try {
            process = builder.start();
        } catch (IOException e) {
            throw new McpException(server + " cannot be started: " + e.getMessage());
        }
        out = process.getOutputStream();
        reader = Thread.ofVirtual().name("MCP server " + server).start(this::read);
        logReader = Thread.ofVirtual().name("log of MCP server " + server).start(this::readLog);
    }

    private void read() {
        try (InputStream in = process.getInputStream()) {
            ByteArrayOutputStream line = new ByteArrayOutputStream();
            byte[] buffer = new byte[8192];
            for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                for (int i = 0; i < count; i++) {
                    if (buffer[i] != '\n') {
                        line.write(buffer[i]);
                    } else {
                        took(line.toByteArray());
                        line.reset();
                    }
                }
                if (line.size() > MAX_LINE) {
                    break;
                }
            }
        } catch (IOException | JsonException e) {
            // What it says is no MCP, or it has ended: no call will be answered.
        } finally {
            end();
        }
    }

    private void took(byte[] line) throws IOException {
        if (new String(line, StandardCharsets.UTF_8).isBlank()) {
            return;
        }
        JsonObject message = Json.parseObject(line);
        if (Rpc.asks(message)) {
            write(Rpc.answer(message));
        } else if (message.values().get("id") instanceof Long id && !message.has("method")) {
            CompletableFuture<JsonObject> call;
            synchronized (this) {
                call = waiting.remove(id);
            }
            if (call != null) {
                call.complete(message);
            }
        }
    }

    private void readLog() {
        try (var lines = process.errorReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                synchronized (tail) {
                    tail.add(line);
                    if (tail.size() > TAIL) {
                        tail.remove();
                    }
                }
            }
        } catch (IOException e) {
            // It has ended.
        }
    }

    private void end() {
        // Not Process.destroy, which would also close the stream of its last words.
        process.toHandle().destroy();
        List<CompletableFuture<JsonObject>> open;
        synchronized (this) {
            ended = true;
            open = List.copyOf(waiting.values());
            waiting.clear();
        }
        open.forEach(call -> call.completeExceptionally(new IOException()));
    }

    private McpException broken() {
        // Its last words come on another stream, which whoever it has started may keep open.
        try {
            process.waitFor(END.toMillis(), TimeUnit.MILLISECONDS);
            logReader.join(END);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        synchronized (tail) {
            return new McpException(server + " has ended" + (tail.isEmpty() ? "" : ": " + String.join(" | ", tail)));
        }
    }

    private void write(String message) throws IOException {
        synchronized (out) {
            out.write((message + "\n").getBytes(StandardCharsets.UTF_8));
            out.flush();
        }
    }

    @Override
    public JsonObject call(Context context, String method, Map<String, Object> params) throws McpException {
        String what = method + " at MCP server " + server;
        context.check(what);
        long id;
        CompletableFuture<JsonObject> answer = new CompletableFuture<>();
        boolean late;
        synchronized (this) {
            late = ended;
            id = ++last;
            if (!late) {
                waiting.put(id, answer);
            }
        }
        if (late) {
            throw broken();
        }
        try (Registration _ = context.onCancel(() -> answer.cancel(false))) {
            write(Rpc.request(id, method, params));
            JsonObject message = context.remaining().isPresent()
                    ? answer.get(Math.max(0, context.remaining().get().toMillis()), TimeUnit.MILLISECONDS)
                    : answer.get();
            return Rpc.result(server, method, message);
        } catch (TimeoutException e) {
            throw new TimedOutException(what + ": no answer in time");
        } catch (CancellationException e) {
            throw new CancelledException(what + ": cancelled by the caller");
        } catch (IOException | ExecutionException e) {
            throw broken();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new McpException(what + ": interrupted");
        } finally {
            synchronized (this) {
                waiting.remove(id);
            }
        }
    }

    @Override
    public void tell(Context context, String method) throws McpException {
        try {
            write(Rpc.notification(method));
        } catch (IOException e) {
            throw broken();
        }
    }

    @Override
    public synchronized boolean open() {
        return !ended;
    }

    /** Standard input's end is the server's; one that does not heed it is killed. */
    @Override
    public void close() {
        try {
            out.close();
        } catch (IOException e) {
            // It has ended.
        }
        try {
            process.waitFor(END.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        try {
            reader.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
