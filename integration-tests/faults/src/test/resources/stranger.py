"""Answers everything on a port with 200, and notes it. stranger.py PORT NOTES"""
import asyncio, sys

notes = open(sys.argv[2], "ab", buffering=0)


async def serve(reader, writer):
    try:
        while True:
            notes.write(await reader.readuntil(b"\r\n\r\n"))
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 15\r\n\r\n{\"status\":\"ok\"}")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main():
    async with await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1])) as server:
        print("serving", flush=True)
        await server.serve_forever()


asyncio.run(main())
