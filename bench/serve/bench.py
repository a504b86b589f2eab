"""Bars of `assay serve`, by CPU seconds of the server: bench.py ASSAY FOLDER.

The server runs on one core and the client on another. A CPU second of a server is what it costs,
whatever else the machine does meanwhile. FOLDER gets what is built.
"""

import asyncio
import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE, CLIENT_CORE = CORES[0], CORES[-1]
ROUNDS, SECONDS, STREAMS = 5, 2.0, 16
WHOLE = {"model": "mock", "messages": [{"role": "user", "content": "hello there"}],
         "max_tokens": 16}
STREAM = {**WHOLE, "max_tokens": 2000, "stream": True, "ignore_eos": True}


class Server:
    def __init__(self, command, port_file=None, port=None):
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            command, preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CORE}),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.port = port
        deadline = time.monotonic() + 60
        while True:
            assert time.monotonic() < deadline and self.process.poll() is None, command
            try:
                if port_file is not None:
                    with open(port_file, encoding="utf-8") as file:
                        self.port = int(file.read())
                with socket.create_connection(("127.0.0.1", self.port)) as peer:
                    peer.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                    if peer.recv(4096).startswith(b"HTTP/1.1 200"):
                        break
            except (OSError, ValueError):
                pass
            time.sleep(0.001)
        self.ready_ms = (time.monotonic() - self.started) * 1e3

    def cpu(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss_mib(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="utf-8") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)


def request(body):
    text = json.dumps(body).encode()
    return (b"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n" % len(text)) + text


class Asker(asyncio.Protocol):
    """Asks again as soon as an answer is whole, and counts what `mark` stands for."""

    def __init__(self, asked, mark, end, counts):
        self.asked, self.mark, self.end, self.counts = asked, mark, end, counts
        self.tail = b""

    def connection_made(self, transport):
        self.transport = transport
        transport.write(self.asked)

    def data_received(self, data):
        seen = self.tail + data
        self.counts[0] += seen.count(self.mark) - self.tail.count(self.mark)
        if self.end in seen:
            self.tail = b""
            self.transport.write(self.asked)
        else:
            self.tail = seen[-max(len(self.mark), len(self.end)) + 1:]


async def load(port, connections, body, mark, end, seconds):
    counts = [0]
    loop = asyncio.get_running_loop()
    transports = [(await loop.create_connection(
        lambda: Asker(request(body), mark, end, counts), "127.0.0.1", port))[0]
        for _ in range(connections)]
    await asyncio.sleep(seconds)
    for transport in transports:
        transport.abort()
    return counts[0]


def rate(server, connections, body, mark, end):
    before = server.cpu()
    count = asyncio.run(load(server.port, connections, body, mark, end, SECONDS))
    return count / max(server.cpu() - before, 0.01)


def row(target, bound, measured, ok):
    print(f"{target:58} {bound:22} {measured:28} {'ok' if ok else 'missed'}", flush=True)
    return ok


def start_ours(assay, folder, more=()):
    port_file = os.path.join(folder, "port")
    if os.path.exists(port_file):
        os.unlink(port_file)
    return Server([assay, "serve", "--port", "0", "--port-file", port_file, "--quiet",
                   "--log", os.path.join(folder, "log"), *more], port_file)


def start_theirs():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return Server([sys.executable, "-m", "uvicorn", "--app-dir", HERE, "fastapi_server:app",
                   "--port", str(port), "--no-access-log", "--log-level", "error"], port=port)


def median_text(values):
    return f"{statistics.median(values):,.0f} ({min(values):,.0f} to {max(values):,.0f})"


def sends(loop, pause):
    # It and its reader have a core each, as a server and its client do.
    return float(subprocess.run(
        [loop, "200000", "220", str(STREAMS), pause], check=True, capture_output=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CORE, CLIENT_CORE})).stdout)


def compare(assay, folder):
    whole, frames = ([], []), ([], [])
    with start_ours(assay, folder) as ours, start_theirs() as theirs:
        for _ in range(ROUNDS):
            for i, server in enumerate((ours, theirs)):
                whole[i].append(rate(server, 64, WHOLE, b"HTTP/1.1 200", b'"usage"'))
                frames[i].append(rate(server, STREAMS, STREAM, b"data: ", b"[DONE]"))
    ratio = statistics.median(whole[0]) / statistics.median(whole[1])
    print(f"  FastAPI: {median_text(whole[1])} requests, {median_text(frames[1])} chunks a CPU second")
    same = row("whole chats per server CPU second, 64 connections", ">= 8 x FastAPI",
               f"{ratio:.1f} x: {median_text(whole[0])}", ratio >= 8)
    loop = os.path.join(folder, "send_loop")
    subprocess.run(["cc", "-O2", "-o", loop, os.path.join(HERE, "send_loop.c")], check=True)
    ahead, singly = ([sends(loop, pause) for _ in range(ROUNDS)] for pause in ("0", "500"))
    share = statistics.median(frames[0]) / statistics.median(ahead)
    print(f"  send(2) alone: {median_text(ahead)} frames a CPU second; if each leaves by itself "
          f"{median_text(singly)}, of which streams make "
          f"{statistics.median(frames[0]) / statistics.median(singly):.2f} x")
    return row("chunks of streams per server CPU second", ">= 0.5 x send(2)",
               f"{share:.2f} x: {median_text(frames[0])}", share >= 0.5) and same


def start_time(assay, folder):
    times = []
    for _ in range(2 * ROUNDS):
        with start_ours(assay, folder) as server:
            times.append(server.ready_ms)
    return row("from exec to the first answer, ms", "<= 100", f"{statistics.median(times):.0f}",
               statistics.median(times) <= 100)


def idle(assay, folder):
    count = 10_000
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard < count + 200:
        return row("10,000 idle connections, MiB", "<= 100", "too few descriptors here", False)
    resource.setrlimit(resource.RLIMIT_NOFILE, (count + 200, hard))
    with start_ours(assay, folder) as server:
        peers = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(count)]
        asked = request(WHOLE)
        peers[-1].sendall(asked)
        answered = peers[-1].recv(4096).startswith(b"HTTP/1.1 200")
        used = server.rss_mib()
        for peer in peers:
            peer.close()
    return row("10,000 idle connections, MiB", "<= 100, and it answers",
               f"{used:.0f}, {'answered' if answered else 'no answer'}", used <= 100 and answered)


def main():
    assay, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    os.makedirs(folder, exist_ok=True)
    os.sched_setaffinity(0, {CLIENT_CORE})
    with tempfile.TemporaryDirectory(dir=folder) as own:
        held = [start_time(assay, own), compare(assay, own), idle(assay, own)]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
