"""One streamed request over TLS, written as it arrives. client.py HOST PORT CA TOKEN ID EVENTS [SOURCE]"""
import socket, ssl, sys, time

host, port, ca, token, request, events = sys.argv[1:7]
source = (sys.argv[7], 0) if len(sys.argv) > 7 else None
tls = ssl.create_default_context(cafile=ca)
plain = socket.create_connection((host, int(port)), timeout=120, source_address=source)
connection = tls.wrap_socket(plain, server_hostname=host)
begun = time.monotonic()
connection.sendall(
    f"POST /v1/messages HTTP/1.1\r\nhost: {host}:{port}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n"
    f"x-api-key: k\r\nx-request-id: {request}\r\nx-events: {events}\r\nx-nemo-relay-client-token: {token}\r\n"
    "connection: close\r\n\r\n{}".encode()
)
for line in connection.makefile("rb"):
    print("%d %s" % ((time.monotonic() - begun) * 1000, line.decode("latin-1").strip()), flush=True)
