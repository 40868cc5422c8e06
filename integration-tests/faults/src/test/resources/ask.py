"""Sends standard input as it is over TLS and prints what comes back until the end. ask.py HOST PORT CA"""
import socket, ssl, sys

host, port, ca = sys.argv[1:4]
tls = ssl.create_default_context(cafile=ca)
connection = tls.wrap_socket(socket.create_connection((host, int(port)), timeout=60), server_hostname=host)
connection.sendall(sys.stdin.buffer.read())
sys.stdout.write(connection.makefile("rb").read().decode("latin-1"))
