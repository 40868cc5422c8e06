package org.nemorelay.hook.internal;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.nemorelay.identity.ClientTokens;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.RouteToken;
import org.nemorelay.telemetry.EventLog.Level;
import org.nemorelay.telemetry.LogSettings;
import org.nemorelay.telemetry.ProcessEventLog;

/**
 * One hook from standard input to the daemon and its answer to standard output (relay-daemon 0.1, 8). {@link #run} does
 * the work; {@link #expire} may end it from another thread at any moment. Whichever is first speaks, and speaks once.
 */
public final class HookRun {
    /** Exit status of a hook that is denied or fails closed. */
    public static final int CLOSED = 2;

    /** What {@link #run} and {@link #expire} return when the other one has spoken. */
    public static final int TOLD = -1;

    private static final int MAX_PAYLOAD_BYTES = 20 << 20;

    private final HookOptions options;
    private final Map<String, String> environment;
    private final InputStream in;
    private final OutputStream out;
    private final PrintStream err;
    private final long startNanos = System.nanoTime();
    private final String operation = operationId();
    private final AtomicBoolean told = new AtomicBoolean();
    private final boolean ownLog;

    private volatile Payload payload;
    private ProcessEventLog log;

    /** @param log empty for one that heeds the environment and is made when it is needed */
    public HookRun(
            HookOptions options,
            Map<String, String> environment,
            Optional<ProcessEventLog> log,
            InputStream in,
            OutputStream out,
            PrintStream err) {
        this.log = log.orElse(null);
        this.ownLog = log.isEmpty();
        this.options = options;
        this.environment = environment;
        this.in = in;
        this.out = out;
        this.err = err;
    }

    /** Delivers the hook; returns the exit status. */
    public int run() {
        try {
            Payload input = readPayload();
            ClientTokens.Resolved credential = ClientTokens.inEnvironment(environment);
            if (credential.token().isEmpty()) {
                return withoutCredential(input, credential.reasons());
            }
            return deliver(input, credential.token().get());
        } catch (HookFailure e) {
            return failed(e, Optional.ofNullable(payload));
        } catch (RelayException e) {
            return failed(HookFailure.of(e), Optional.ofNullable(payload));
        } catch (OutOfMemoryError e) {
            return failed(HookFailure.tooLarge("the hook does not fit into memory"), Optional.empty());
        } catch (RuntimeException | Error e) {
            // Whatever it is: exit status 1, which Java would end with, lets a tool call pass.
            return failed(HookFailure.internal(e), Optional.ofNullable(payload));
        }
    }

    /** Ends the hook because its time is over; returns the exit status. */
    public int expire() {
        Optional<Payload> read = Optional.ofNullable(payload);
        String what = read.isPresent() ? "the daemon did not answer in time" : "standard input did not end in time";
        return failed(HookFailure.timeout(what), read);
    }

    private Payload readPayload() throws HookFailure {
        Payload input;
        try {
            input = Payload.read(in, MAX_PAYLOAD_BYTES + 1);
        } catch (IOException e) {
            throw HookFailure.invalidPayload("standard input cannot be read: " + Reasons.of(e));
        }
        if (input.length() > MAX_PAYLOAD_BYTES) {
            log(
                    Level.INFO,
                    "nemo_relay.operational",
                    "limit_exceeded",
                    "CLI operational record",
                    "boundary",
                    "daemon_hook_forward",
                    "elapsed_millis",
                    elapsedMillis(),
                    "limit_bytes",
                    MAX_PAYLOAD_BYTES,
                    "limit_name",
                    "max_hook_payload_bytes",
                    "operation_id",
                    operation);
            throw HookFailure.tooLarge("hook payload exceeds the " + MAX_PAYLOAD_BYTES + "-byte limit");
        }
        int invalid = input.firstNotUtf8();
        if (invalid >= 0) {
            throw HookFailure.invalidPayload("hook payload is not UTF-8: invalid sequence at index " + invalid);
        }
        payload = input;
        return input;
    }

    /** Without a credential the daemon could only pass the hook through, so nobody is asked (0.1). */
    private int withoutCredential(Payload input, String reasons) throws HookFailure {
        boolean closed = HookPolicy.failsClosed(options.failClosed(), environment, Optional.of(input));
        if (closed) {
            throw HookFailure.unauthorized("No NeMo Relay client credential is available"
                    + (reasons.isEmpty()
                            ? "; set " + ClientTokens.VARIABLE + " or run `nemo-relay daemon token ensure`"
                            : ": " + reasons));
        }
        log(
                Level.WARN,
                "nemo_relay.hook",
                "daemon_hook_pass_through",
                "No NeMo Relay client credential is available; the hook passes through without daemon delivery",
                "reason",
                "missing_credential",
                "route_mode",
                "pass_through");
        if (HookPolicy.closedEvent(input)) {
            // Let through by flag; approving it is not ours.
            if (!told.compareAndSet(false, true)) {
                return TOLD;
            }
            remark(false);
            return 0;
        }
        return answer(options.agent().allowAnswer().getBytes(StandardCharsets.UTF_8));
    }

    private int deliver(Payload input, RouteToken token) throws HookFailure {
        Answer answer = Exchange.post(
                options.daemon(),
                options.agent().path(),
                token,
                environment,
                operation,
                input.blank() ? Payload.EMPTY_OBJECT : input);
        if (answer.status() >= 200 && answer.status() < 300) {
            return answer(answer.body());
        }
        JsonObject error = error(answer.body());
        String message = text(error, "message");
        if (!text(error, "type").equals("nemo_relay_guardrail_rejected")) {
            throw HookFailure.answered(answer.status(), message);
        }
        if (told.compareAndSet(false, true)) {
            err.println(
                    visible(text(error, "reason")).or(() -> visible(message)).orElse("denied without a reason"));
            return CLOSED;
        }
        return TOLD;
    }

    private int answer(byte[] body) {
        if (!told.compareAndSet(false, true)) {
            return TOLD;
        }
        remark(false);
        try {
            out.write(body);
            out.flush();
            return 0;
        } catch (IOException e) {
            err.println("nemo-relay daemon hook failed: the answer cannot be written: " + Reasons.of(e));
            return CLOSED;
        }
    }

    private int failed(HookFailure failure, Optional<Payload> read) {
        boolean closed = HookPolicy.failsClosed(options.failClosed(), environment, read);
        if (!told.compareAndSet(false, true)) {
            return TOLD;
        }
        remark(closed);
        if (!closed) {
            err.println("nemo-relay daemon hook failed: " + line(failure.getMessage()));
            return 0;
        }
        // One line of the log beside the last one is enough where nobody asked for more: an agent reads them all.
        log(
                Level.INFO,
                "nemo_relay.operational",
                "hook_failed",
                "CLI operational record",
                "boundary",
                "daemon_hook_forward",
                "elapsed_millis",
                elapsedMillis(),
                "error_kind",
                failure.kind(),
                "operation_id",
                operation);
        log(
                Level.ERROR,
                "nemo_relay.hook",
                "daemon_hook_delivery_failed",
                "Managed daemon hook delivery failed",
                "error_kind",
                failure.kind(),
                "mode",
                "fail_closed");
        log(
                Level.INFO,
                "nemo_relay.cli",
                "command_failed",
                "CLI command failed",
                "command",
                "daemon",
                "error_kind",
                failure.kind());
        err.println("nemo-relay hook forward failed: " + line(failure.getMessage()));
        return CLOSED;
    }

    /** The log is made when something is to be said: most hooks have nothing to say. */
    private void log(Level level, String target, String event, String message, Object... fields) {
        if (log != null || level == Level.ERROR || environment.containsKey(LogSettings.LEVEL_VARIABLE)) {
            log().log(level, target, event, message, fields);
        }
    }

    private synchronized ProcessEventLog log() {
        if (log == null) {
            log = ProcessEventLog.synchronous(logSettings(), err);
        }
        return log;
    }

    /** A wrong word in a variable must not turn a hook that fails closed into one that does not: {@link #remark} tells it. */
    private LogSettings logSettings() {
        try {
            return LogSettings.DEFAULT.with(environment);
        } catch (RelayException e) {
            return LogSettings.DEFAULT;
        }
    }

    /**
     * Says which settings of the environment do not count. Not beside a denial, whose reason alone the agent is to read.
     */
    private void remark(boolean closed) {
        if (ownLog
                && (environment.containsKey(LogSettings.LEVEL_VARIABLE)
                        || environment.containsKey(LogSettings.STDERR_VARIABLE)
                        || environment.containsKey(LogSettings.FORMAT_VARIABLE))) {
            try {
                LogSettings.DEFAULT.with(environment);
            } catch (RelayException e) {
                err.println(loggingIgnored(e));
            }
        }
        if (!closed && options.failClosed().isEmpty()) {
            Optional<String> word = HookPolicy.ignored(environment);
            if (word.isPresent()) {
                err.println("nemo-relay daemon hook: " + HookPolicy.VARIABLE + "=\"" + line(word.get())
                        + "\" counts as not set; only 1 makes every hook fail closed");
            }
        }
    }

    /** The line about settings of the log that cannot be heeded. */
    public static String loggingIgnored(RelayException failure) {
        return "nemo-relay daemon hook: " + line(failure.getMessage()) + "; errors alone are logged, on standard error";
    }

    private long elapsedMillis() {
        return (System.nanoTime() - startNanos) / 1_000_000;
    }

    private static JsonObject error(byte[] body) {
        try {
            return Json.parseObject(body).object("error");
        } catch (JsonException e) {
            return JsonObject.of(Map.of(), "");
        }
    }

    private static String text(JsonObject object, String key) {
        return object.values().get(key) instanceof String text ? text : "";
    }

    /** Codex lets a call pass whose denial has nothing to say. */
    private static Optional<String> visible(String text) {
        String printable = printable(text);
        return printable.chars().allMatch(c -> Character.isWhitespace(c) || Character.isSpaceChar(c))
                ? Optional.empty()
                : Optional.of(printable);
    }

    private static String line(String text) {
        return printable(text).replace('\n', ' ');
    }

    /** What comes from the other side must not drive the reader's terminal. */
    private static String printable(String text) {
        StringBuilder out = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            out.append(Character.isISOControl(c) && c != '\n' && c != '\t' ? ' ' : c);
        }
        return out.toString();
    }

    /** A time-ordered UUID (version 7). It is no secret, so it need not wait for a secure source of randomness. */
    private static String operationId() {
        SplittableRandom random = new SplittableRandom();
        long most = System.currentTimeMillis() << 16 | 0x7000L | random.nextInt(0x1000);
        long least = random.nextLong() & 0x3fff_ffff_ffff_ffffL | 0x8000_0000_0000_0000L;
        return new UUID(most, least).toString();
    }
}
