"""A model provider as a process of its own: it notes every request before it answers. provider.py ADDRESS PORT NOTES [CERTIFICATE KEY]"""
import asyncio, os, ssl, sys

notes = os.open(sys.argv[3], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)


async def serve(reader, writer):
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            target = head[0].split(" ")[1]
            headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
            if "content-length" in headers:
                await reader.readexactly(int(headers["content-length"]))
            elif "chunked" in headers.get("transfer-encoding", ""):
                while int((await reader.readuntil(b"\r\n")).strip(), 16):
                    await reader.readuntil(b"\r\n")
                await reader.readuntil(b"\r\n")
            os.write(notes, f"{headers.get('x-request-id', '-')} {target}\n".encode())
            events = int(headers.get("x-events", "1"))
            await asyncio.sleep(int(headers.get("x-thinks", "0")))
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntrailer: x-sum\r\ntransfer-encoding: chunked\r\n\r\n"
            )
            for number in range(events):
                event = b"data: %d\n\n" % number
                writer.write(b"%x\r\n%s\r\n" % (len(event), event))
                await writer.drain()
                if number + 1 < events:
                    await asyncio.sleep(float(headers.get("x-pauses", "0.1")))
            writer.write(b"0\r\nx-sum: %d\r\n\r\n" % events)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main():
    tls = None
    if len(sys.argv) > 4:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(sys.argv[4], sys.argv[5])
    async with await asyncio.start_server(serve, sys.argv[1], int(sys.argv[2]), backlog=1024, ssl=tls) as server:
        print("serving", flush=True)
        await server.serve_forever()


asyncio.run(main())
