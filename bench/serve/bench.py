"""Bars of `assay serve`: bench.py ASSAY FOLDER [--quick] [--only WORD...] [--json FILE].

The server runs on one core and the client on another. A CPU second of a server is what it costs,
whatever else the machine does meanwhile. FOLDER gets what is built. Code 1 if a bound is missed.
--quick runs each row for seconds, to see that it runs: what it says then is no measurement.
"""

import argparse
import asyncio
import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile

import mixed
import slower_kernel
import streams
from servers import CLIENT_CORE, HERE, SERVER_CORE, start_ours, start_theirs

RESULTS = []  # The file that gets a line of JSON for each target, if one was named.
ROUNDS, SECONDS, STREAMS = 5, 2.0, 16
WHOLE = {"model": "mock", "messages": [{"role": "user", "content": "hello there"}],
         "max_tokens": 16}
STREAM = {**WHOLE, "max_tokens": 2000, "stream": True, "ignore_eos": True}


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
    if RESULTS:
        with open(RESULTS[0], "a", encoding="utf-8") as file:
            json.dump({"target": target, "bound": bound, "measured": measured, "ok": bool(ok)},
                      file)
            file.write("\n")
    return ok


def median_text(values):
    return f"{statistics.median(values):,.0f} ({min(values):,.0f} to {max(values):,.0f})"


def sends(loop, pause):
    # It and its reader have a core each, as a server and its client do.
    return float(subprocess.run(
        [loop, "200000", "220", str(STREAMS), pause], check=True, capture_output=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CORE, CLIENT_CORE})).stdout)


def compare(assay, folder, quick):
    rounds = 1 if quick else ROUNDS
    whole, frames = ([], []), ([], [])
    with start_ours(assay, folder) as ours, start_theirs() as theirs:
        for _ in range(rounds):
            for i, server in enumerate((ours, theirs)):
                whole[i].append(rate(server, 64, WHOLE, b"HTTP/1.1 200", b'"usage"'))
                frames[i].append(rate(server, STREAMS, STREAM, b"data: ", b"[DONE]"))
    ratio = statistics.median(whole[0]) / statistics.median(whole[1])
    print(f"  FastAPI: {median_text(whole[1])} requests, {median_text(frames[1])} chunks a CPU second")
    same = row("whole chats per server CPU second, 64 connections", ">= 8 x FastAPI",
               f"{ratio:.1f} x: {median_text(whole[0])}", ratio >= 8)
    loop = os.path.join(folder, "send_loop")
    subprocess.run(["cc", "-O2", "-o", loop, os.path.join(HERE, "send_loop.c")], check=True)
    ahead, singly = ([sends(loop, pause) for _ in range(rounds)] for pause in ("0", "500"))
    share = statistics.median(frames[0]) / statistics.median(ahead)
    print(f"  send(2) alone: {median_text(ahead)} frames a CPU second; if each leaves by itself "
          f"{median_text(singly)}, of which streams make "
          f"{statistics.median(frames[0]) / statistics.median(singly):.2f} x")
    return row("chunks of streams per server CPU second", ">= 0.5 x send(2)",
               f"{share:.2f} x: {median_text(frames[0])}", share >= 0.5) and same


def start_time(assay, folder, quick):
    times = []
    for _ in range(2 if quick else 2 * ROUNDS):
        with start_ours(assay, folder) as server:
            times.append(server.ready_ms)
    return row("from exec to the first answer, ms", "<= 100", f"{statistics.median(times):.0f}",
               statistics.median(times) <= 100)


def idle(assay, folder, quick):
    count = 1_000 if quick else 10_000
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard < count + 200:
        return row(f"{count:,} idle connections, MiB", "<= 100", "too few descriptors here", False)
    resource.setrlimit(resource.RLIMIT_NOFILE, (count + 200, hard))
    with start_ours(assay, folder) as server:
        peers = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(count)]
        asked = request(WHOLE)
        peers[-1].sendall(asked)
        answered = peers[-1].recv(4096).startswith(b"HTTP/1.1 200")
        used = server.rss_mib()
        for peer in peers:
            peer.close()
    return row(f"{count:,} idle connections, MiB", "<= 100, and it answers",
               f"{used:.0f}, {'answered' if answered else 'no answer'}", used <= 100 and answered)


ROWS = {"start": start_time, "compare": compare, "idle": idle,
        "streams": lambda *words: streams.mock_row(row, *words),
        "plugin": lambda *words: streams.plugin_row(row, *words),
        "slower": lambda *words: slower_kernel.slower_row(row, *words),
        "mixed": lambda *words: mixed.mixed_row(row, *words)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assay", type=os.path.abspath)
    parser.add_argument("folder", type=os.path.abspath)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", choices=ROWS, default=list(ROWS))
    parser.add_argument("--json", type=os.path.abspath, metavar="FILE")
    asked = parser.parse_args()
    RESULTS.extend([asked.json] if asked.json else [])
    os.makedirs(asked.folder, exist_ok=True)
    os.sched_setaffinity(0, {CLIENT_CORE})
    with tempfile.TemporaryDirectory(dir=asked.folder) as own:
        held = [ROWS[word](asked.assay, own, asked.quick) for word in asked.only]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
