"""Stands for a coding harness: starts the MCP client, initializes it, holds its input open. harness.py COMMAND..."""
import json, subprocess, sys

mcp = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def say(message):
    mcp.stdin.write((json.dumps(message) + "\n").encode())
    mcp.stdin.flush()


print("mcp", mcp.pid, flush=True)
say({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
    "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "harness", "version": "1"}}})
print(mcp.stdout.readline().decode().strip() or "ended", flush=True)
sys.stdin.readline()
mcp.stdin.close()
print("exit", mcp.wait(), flush=True)
