"""A passive tap: passes bytes on in both directions, and keeps what each client sent.

The bytes of a connection are not parsed on their way, so nothing that a client does is hidden by
what the tap understands. Requests are cut out of the kept bytes afterwards.
"""

import asyncio
import contextlib
import threading

FREE_PORT = "@port@"  # In a command of tapped_server.py.


class Tap:
    """folder: gets the bytes as they pass, for readers in another process."""

    def __init__(self, upstream_port, port=0, folder=None):
        self.upstream_port = upstream_port
        self.folder = folder
        self.sent = []  # A bytearray a connection: what the client sent.
        self.answered = []  # And what it got.
        self.port = port
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def requests(self):
        """Each request as (head, body), in order of connections."""
        return [request for bytes_ in self.sent for request in split_messages(bytes(bytes_))]

    def answers(self):
        return [answer for bytes_ in self.answered for answer in split_messages(bytes(bytes_))]

    def _run(self):
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", self.port, backlog=1024))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))

    async def _serve(self, reader, writer):
        number = len(self.sent)
        self.sent.append(bytearray())
        self.answered.append(bytearray())
        try:
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self.upstream_port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(
            self._pass_on(reader, up_writer, self.sent[number], f"{number}.sent"),
            self._pass_on(up_reader, writer, self.answered[number], f"{number}.answered"))

    async def _pass_on(self, reader, writer, kept, name):
        with contextlib.suppress(OSError):
            while part := await reader.read(1 << 16):
                kept += part
                if self.folder is not None:
                    with open(self.folder / name, "ab") as file:
                        file.write(part)
                writer.write(part)
                await writer.drain()
        with contextlib.suppress(OSError):
            writer.close()


def header(head, name):
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.strip().lower() == name.lower().encode():
            return value.strip().decode()
    return None


def split_messages(data):
    """(head, body) of each whole message; a chunked body is joined."""
    messages = []
    while True:
        head, blank, rest = data.partition(b"\r\n\r\n")
        if not blank:
            return messages
        if (header(head, "transfer-encoding") or "").lower() == "chunked":
            body = b""
            while True:
                size, newline, rest = rest.partition(b"\r\n")
                if not newline:
                    return messages
                length = int(size, 16)
                if len(rest) < length + 2:
                    return messages
                body, rest = body + rest[:length], rest[length + 2:]
                if length == 0:
                    break
        else:
            length = int(header(head, "content-length") or 0)
            if len(rest) < length:
                return messages
            body, rest = rest[:length], rest[length:]
        messages.append((head, body))
        data = rest
