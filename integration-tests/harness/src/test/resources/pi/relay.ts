// Pi through the relay: its provider, and its events as hooks. Pi has no hook commands, so this starts the hook process.
import { spawn } from "node:child_process";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

const address = process.env.RELAY_ADDRESS;

function hook(payload: object): Promise<{ status: number | null; reason: string }> {
	return new Promise((resolve) => {
		const forwarder = spawn(process.env.RELAY_EXECUTABLE, ["daemon", "hook", "pi", "--daemon-address", address]);
		let reason = "";
		forwarder.stderr.on("data", (text) => (reason += text));
		forwarder.stdout.resume();
		forwarder.on("close", (status) => resolve({ status, reason: reason.trim() }));
		forwarder.stdin.end(JSON.stringify(payload));
	});
}

export default function (pi: ExtensionAPI) {
	pi.registerProvider("relay", {
		name: "Relay",
		baseUrl: address + "/v1",
		apiKey: "$RELAY_KEY",
		api: "openai-responses",
		headers: { "x-nemo-relay-client-token": "$NEMO_RELAY_CLIENT_TOKEN" },
		models: [
			{
				id: "mock-model",
				name: "Mock",
				reasoning: false,
				input: ["text"],
				cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
				contextWindow: 128000,
				maxTokens: 4096,
			},
		],
	});
	pi.registerMcpServer("nemo-relay", {
		command: process.env.RELAY_EXECUTABLE,
		args: ["daemon", "mcp", "--daemon-address", address],
		exposure: "direct",
	});
	const observed = ["session_start", "agent_start", "turn_start", "tool_execution_end", "turn_end", "agent_end", "session_shutdown"];
	for (const type of observed) {
		pi.on(type as any, async (event: any, ctx: any) => {
			const { toolName, toolCallId, result, isError, reason } = event;
			await hook({ type, hook_event_name: type, session_id: ctx.sessionManager.getSessionId(), toolName, toolCallId, result, isError, reason });
		});
	}
	pi.on("tool_call", async (event, ctx) => {
		const { toolName, toolCallId, input } = event;
		const session_id = ctx.sessionManager.getSessionId();
		const { status, reason } = await hook({ type: "tool_call", hook_event_name: "tool_call", session_id, toolName, toolCallId, input });
		return status === 0 ? undefined : { block: true, reason };
	});
}
