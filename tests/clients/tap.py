"""A passive tap: passes bytes on in both directions, and keeps them with the times at which it did.

The bytes of a connection are not parsed on their way, so nothing that a client does is hidden by
what the tap understands. Requests are cut out of the kept bytes afterwards.
"""

import asyncio
import contextlib
import functools
import threading
import time

FREE_PORT = "@port@"  # In a command of tapped_server.py.


class Tap:
    """folder: gets the bytes as they pass, for readers in another process."""

    def __init__(self, upstream_port, port=0, folder=None):
        self.upstream_port = upstream_port
        self.folder = folder
        self.sent = []  # A bytearray a connection: what the client sent.
        self.answered = []  # And what it got.
        self.sent_at = []  # A list a connection of (bytes until then, ns): when it passed them on.
        self.answered_at = []
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

    def exchanges(self):
        """(request, ns at which it was passed on, answer, ns of each byte of it) of each."""
        for number, sent in enumerate(self.sent):
            asked = messages(bytes(sent))
            answered = messages(bytes(self.answered[number]))
            for request, answer in zip(asked, answered):
                yield (request, passed_at(self.sent_at[number], request.end - 1), answer,
                       functools.partial(passed_at, self.answered_at[number]))

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
        self.sent_at.append([])
        self.answered_at.append([])
        opening = asyncio.create_task(
            asyncio.open_connection("127.0.0.1", self.upstream_port))

        # What came before that connection is open bears the time at which it came.
        async def upstream():
            return (await opening)[1]

        async def client():
            return writer

        async def answers():
            try:
                up_reader, _ = await opening
            except OSError:
                writer.close()
                return
            await self._pass_on(up_reader, client, self.answered[number],
                                self.answered_at[number], f"{number}.answered")

        await asyncio.gather(
            self._pass_on(reader, upstream, self.sent[number], self.sent_at[number],
                          f"{number}.sent"), answers())

    async def _pass_on(self, reader, find_writer, kept, times, name):
        with contextlib.suppress(OSError):
            while part := await reader.read(1 << 16):
                kept += part
                times.append((len(kept), time.monotonic_ns()))
                writer = await find_writer()
                if self.folder is not None:
                    with open(self.folder / name, "ab") as file:
                        file.write(part)
                writer.write(part)
                await writer.drain()
        with contextlib.suppress(OSError):
            (await find_writer()).close()


def passed_at(times, place):
    """ns at which the byte of that place was passed on."""
    return next(ns for end, ns in times if place < end)


def header(head, name):
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.strip().lower() == name.lower().encode():
            return value.strip().decode()
    return None


class Message:
    """A whole message; its body's bytes know where they stood in the connection's."""

    def __init__(self, head):
        self.head = head
        self.body = b""
        self.end = 0  # Behind its last byte.
        self._pieces = []  # (place in the body, place in the connection).

    def add(self, data, begin, end):
        self._pieces.append((len(self.body), begin))
        self.body += data[begin:end]

    def place(self, at):
        """Of a byte of the body in the connection."""
        body, connection = max(piece for piece in self._pieces if piece[0] <= at)
        return connection + at - body


def messages(data):
    """Each whole message of a connection; a chunked body is joined."""
    found, at = [], 0
    while (blank := data.find(b"\r\n\r\n", at)) >= 0:
        message = Message(data[at:blank])
        at = blank + 4
        if (header(message.head, "transfer-encoding") or "").lower() == "chunked":
            length = 1
            while length > 0:
                newline = data.find(b"\r\n", at)
                if newline < 0:
                    return found
                length = int(data[at:newline], 16)
                at = newline + 2
                if len(data) < at + length + 2:
                    return found
                message.add(data, at, at + length)
                at += length + 2
        else:
            length = int(header(message.head, "content-length") or 0)
            if len(data) < at + length:
                return found
            message.add(data, at, at + length)
            at += length
        message.end = at
        found.append(message)
    return found


def split_messages(data):
    """(head, body) of each whole message."""
    return [(message.head, message.body) for message in messages(data)]
