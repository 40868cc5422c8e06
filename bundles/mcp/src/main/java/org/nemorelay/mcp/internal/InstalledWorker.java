package org.nemorelay.mcp.internal;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.nemorelay.identity.ClientTokens;
import org.nemorelay.json.Json;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.control.ActivationFailure;

/** Starts the worker of the installed tree that this process comes from (relay-daemon 7). */
final class InstalledWorker implements WorkerStarter {
    private final String home;
    private final DaemonUrl daemon;

    /** @param home the installed tree, or an empty text when it is unknown */
    InstalledWorker(String home, DaemonUrl daemon) {
        this.home = home;
        this.daemon = daemon;
    }

    @Override
    public Process start(LaunchGrant grant) throws StartFailure {
        File executable = new File(home, "bin/nemo-relay");
        if (home.isEmpty() || !executable.canExecute()) {
            throw new StartFailure(
                    ActivationFailure.EXECUTABLE_RESOLUTION_FAILED,
                    home.isEmpty()
                            ? "the installed tree is unknown (nemorelay.home is not set)"
                            : executable + " is not there or cannot be executed");
        }
        List<String> command = new ArrayList<>(List.of(
                executable.getPath(),
                "daemon",
                "worker",
                "--daemon-address",
                daemon.argument(),
                "--bind",
                grant.bindIp()));
        if (grant.port() != 0) {
            command.add("--port");
            command.add(Integer.toString(grant.port()));
        }
        if (grant.advertiseAddress().isPresent()) {
            command.add("--advertise-address");
            command.add(grant.advertiseAddress().get());
        }
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().remove(ClientTokens.VARIABLE);
        builder.redirectOutput(ProcessBuilder.Redirect.DISCARD);
        builder.redirectError(ProcessBuilder.Redirect.INHERIT);
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) {
            throw new StartFailure(ActivationFailure.PROCESS_SPAWN_FAILED, Reasons.of(e));
        }
        hand(grant, process);
        return process;
    }

    private static void hand(LaunchGrant grant, Process process) throws StartFailure {
        OutputStream input = process.getOutputStream();
        try {
            input.write(Json.write(grant.json()).getBytes(StandardCharsets.UTF_8));
            input.flush();
        } catch (IOException e) {
            process.destroyForcibly();
            throw new StartFailure(
                    ActivationFailure.GRANT_WRITE_FAILED, "the worker did not take its grant: " + Reasons.of(e));
        }
        try {
            input.close();
        } catch (IOException e) {
            process.destroyForcibly();
            throw new StartFailure(
                    ActivationFailure.PIPE_CLOSE_FAILED, "the worker's input cannot be closed: " + Reasons.of(e));
        }
    }
}
