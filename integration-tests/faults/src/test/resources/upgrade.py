"""Control upgrades from one source address, one after the other. upgrade.py HOST PORT CA SOURCE COUNT"""
import socket, ssl, sys

host, port, ca, source, count = sys.argv[1:6]
tls = ssl.create_default_context(cafile=ca)
statuses, kept = [], []
for _ in range(int(count)):
    plain = socket.create_connection((host, int(port)), timeout=20, source_address=(source, 0))
    connection = tls.wrap_socket(plain, server_hostname=host)
    connection.sendall(
        f"GET /_nemo-relay/control/v1/mcp HTTP/1.1\r\nhost: {host}:{port}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n"
        "sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nx-forwarded-for: 203.0.113.1\r\n\r\n".encode()
    )
    statuses.append(connection.recv(4096).decode("latin-1").split(" ")[1])
    kept.append(connection)
print(" ".join(statuses))
