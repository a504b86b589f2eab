"""A passive tap: passes bytes on in both directions, and keeps them with the times at which it did.

The bytes of a connection are not parsed on their way, so nothing that a client does is hidden by
what the tap understands. Requests are cut out of the kept bytes afterwards.

What the tap itself takes is in no time: what comes from the client has the kernel's receive stamp,
and what goes to the client has that of the moment before its write.
"""

import contextlib
import functools
import socket
import struct
import threading
import time

FREE_PORT = "@port@"  # In a command of tapped_server.py.
SO_TIMESTAMPNS = 35  # Python has no name for it.
MOST_BYTES = 1 << 16


class Tap:
    """folder: gets the bytes as they pass, for readers in another process."""

    def __init__(self, upstream_port, port=0, folder=None):
        self.upstream_port = upstream_port
        self.folder = folder
        self.sent = []  # A bytearray a connection: what the client sent.
        self.answered = []  # And what it got.
        self.sent_at = []  # A list a connection of (bytes until then, ns): when they came.
        self.answered_at = []  # Likewise: when they were passed on.
        self.port = port
        self._sockets = []
        self._threads = []

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", self.port), backlog=1024)
        # Connections have it from the beginning: a request may come before it is accepted.
        self._listener.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.port = self._listener.getsockname()[1]
        self._start(self._accept)
        return self

    def __exit__(self, *_):
        # A thread that waits for a socket wakes when that is shut down, and not when it is closed.
        shut(self._listener)
        self._threads[0].join()
        for one in self._sockets:
            shut(one)
        for thread in self._threads[1:]:
            thread.join()
        for one in [self._listener, *self._sockets]:
            one.close()

    def requests(self):
        """Each request as (head, body), in order of connections."""
        return [request for bytes_ in self.sent for request in split_messages(bytes(bytes_))]

    def answers(self):
        return [answer for bytes_ in self.answered for answer in split_messages(bytes(bytes_))]

    def exchanges(self):
        """(request, ns at which its end came, answer, ns at which a byte of it was passed on)."""
        for number, sent in enumerate(self.sent):
            asked = messages(bytes(sent))
            answered = messages(bytes(self.answered[number]))
            for request, answer in zip(asked, answered):
                yield (request, passed_at(self.sent_at[number], request.end - 1), answer,
                       functools.partial(passed_at, self.answered_at[number]))

    def _start(self, run, *words):
        thread = threading.Thread(target=run, args=words, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._serve(client)

    def _serve(self, client):
        number = len(self.sent)
        for kept in (self.sent, self.answered):
            kept.append(bytearray())
        for times in (self.sent_at, self.answered_at):
            times.append([])
        self._sockets.append(client)
        try:
            upstream = socket.create_connection(("127.0.0.1", self.upstream_port))
        except OSError:
            return shut(client)
        self._sockets.append(upstream)
        for one in (client, upstream):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._start(self._pass_on, client, upstream, self.sent[number], self.sent_at[number],
                    f"{number}.sent")
        self._start(self._pass_on, upstream, client, self.answered[number],
                    self.answered_at[number], f"{number}.answered")

    def _pass_on(self, source, target, kept, times, name):
        try:
            while True:
                part, came_ns = receive(source)
                if not part:
                    return target.shutdown(socket.SHUT_WR)
                kept += part
                if self.folder is not None:
                    with open(self.folder / name, "ab") as file:
                        file.write(part)
                times.append((len(kept), came_ns or time.monotonic_ns()))
                target.sendall(part)
        except OSError:  # One end is gone, which the other is to see.
            for one in (source, target):
                shut(one)
                one.close()


def receive(source):
    """(bytes, ns of CLOCK_MONOTONIC at which the kernel had the last of them, or None)"""
    part, more, _, _ = source.recvmsg(MOST_BYTES, socket.CMSG_SPACE(16))
    for level, kind, data in more:
        if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
            seconds, ns = struct.unpack("ll", data)
            return part, seconds * 10**9 + ns - time.time_ns() + time.monotonic_ns()
    return part, None


def shut(one):
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)


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
