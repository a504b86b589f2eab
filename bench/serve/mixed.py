"""Clients of every kind at a time: what is left of them when they are gone."""

import asyncio
import json
import random
import time

from servers import start_ours

CLIENTS, SEEDS, TOKENS = 48, 16, 200
FAULTS = ("--mock-itl-ms", "2", "--mock-itl-std-ms", "1", "--mock-error-rate", "0.05",
          "--mock-stall-rate", "0.02", "--mock-disconnect-rate", "0.05")
LONGEST_WAIT = 5  # Of a client, for an answer that stalls.
SILENT_SECONDS = 30  # A peer that sent FIN is given up where its stream is silent for so long.


def head_of(path, length):
    return (f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            f"Connection: close\r\nContent-Length: {length}\r\n\r\n").encode()


def body_of(seed, stream):
    return json.dumps({"model": "mock", "messages": [{"role": "user", "content": "hi"}],
                       "seed": seed, "max_tokens": TOKENS, "ignore_eos": True,
                       "stream": stream}).encode()


def text_of(stream):
    """The text of all frames that have come whole, and whether the stream ended well."""
    text, ended = "", False
    for line in stream.rpartition(b"\n\n")[0].decode().split("\n"):
        if line.startswith("data: [DONE]"):
            ended = True
        elif line.startswith("data: {"):
            chunk = json.loads(line[6:])
            if "error" in chunk:
                return text, False
            for choice in chunk["choices"]:
                text += choice["delta"].get("content", "")
    return text, ended


class Clients:
    def __init__(self, port, texts, until):
        self.port, self.texts, self.until = port, texts, until
        self.counts = dict.fromkeys(("whole", "left", "faulty", "wrong", "refused"), 0)

    async def stream(self, seed, random_numbers):
        """One stream, which its client may leave at any byte."""
        body = body_of(seed, True)
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        leave_at = random_numbers.randrange(60_000) if random_numbers.random() < 0.5 else None
        got = b""
        try:
            writer.write(head_of("/v1/chat/completions", len(body)) + body)
            while b"\r\n0\r\n\r\n" not in got[-8:]:
                part = await asyncio.wait_for(reader.read(4096), LONGEST_WAIT)
                got += part
                if not part or (leave_at is not None and len(got) > leave_at):
                    break
        except (OSError, asyncio.TimeoutError):
            pass
        finally:
            writer.transport.abort()
        text, ended = text_of(got.partition(b"\r\n\r\n")[2])
        right = text == self.texts[seed] if ended else self.texts[seed].startswith(text)
        self.counts["wrong" if not right else "whole" if ended else
                    "left" if leave_at is not None else "faulty"] += 1

    async def ask(self, path, body):
        """Over a connection of its own: whatever is sent, an answer comes or the connection ends."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(head_of(path, len(body)) + body)
            await asyncio.wait_for(reader.read(4096), LONGEST_WAIT)
        except (OSError, asyncio.TimeoutError):
            pass
        finally:
            writer.transport.abort()
        self.counts["refused"] += 1

    async def client(self, number):
        random_numbers = random.Random(number)
        while time.monotonic() < self.until:
            seed = random_numbers.randrange(SEEDS)
            draw = random_numbers.random()
            if draw < 0.7:
                await self.stream(seed, random_numbers)
            elif draw < 0.8:
                await self.ask("/v1/chat/completions", body_of(seed, False))
            elif draw < 0.9:
                await self.ask("/v1/chat/completions", body_of(seed, True)[:-9])
            else:
                await self.ask("/nowhere", b"{}")

    async def watch(self, server, rss):
        while time.monotonic() < self.until:
            rss.append((time.monotonic(), server.rss_mib()))
            await asyncio.sleep(0.5)

    async def run(self, server, rss):
        await asyncio.gather(self.watch(server, rss), *map(self.client, range(CLIENTS)))


def metric(port, name):
    async def ask():
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        text = (await reader.read()).decode()
        writer.close()
        return text
    line = next(line for line in asyncio.run(ask()).splitlines() if line.startswith(name + "{"))
    return float(line.split()[-1])


def true_texts(assay, folder):
    """What each seed says where nothing goes wrong."""
    texts = {}

    async def read(port, seed):
        clients = Clients(port, {}, 0)
        body = body_of(seed, True)
        reader, writer = await asyncio.open_connection("127.0.0.1", clients.port)
        writer.write(head_of("/v1/chat/completions", len(body)) + body)
        texts[seed], ended = text_of(
            (await reader.readuntil(b"\r\n0\r\n\r\n")).partition(b"\r\n\r\n")[2])
        assert ended
        writer.close()
    with start_ours(assay, folder) as server:
        for seed in range(SEEDS):
            asyncio.run(read(server.port, seed))
    return texts


def growth_mib(rss):
    """By the line of least squares through the last half: from its begin to its end."""
    half = rss[len(rss) // 2:]
    times, sizes = [at for at, _ in half], [mib for _, mib in half]
    mean_time, mean_size = sum(times) / len(half), sum(sizes) / len(half)
    spread = sum((at - mean_time) ** 2 for at in times)
    slope = sum((at - mean_time) * (mib - mean_size) for at, mib in half) / spread
    return slope * (times[-1] - times[0])


def mixed_row(row, assay, folder, quick):
    seconds = 10 if quick else 600
    texts = true_texts(assay, folder)
    rss = []
    with start_ours(assay, folder, FAULTS) as server:
        before = server.descriptors()
        clients = Clients(server.port, texts, time.monotonic() + seconds)
        asyncio.run(clients.run(server, rss))
        deadline = time.monotonic() + SILENT_SECONDS + LONGEST_WAIT
        while True:  # Counted ahead of the question, whose own connection may still be open.
            after = server.descriptors()
            running = metric(server.port, "vllm:num_requests_running")
            if (after <= before and not running) or time.monotonic() > deadline:
                break
            time.sleep(0.05)
    grown = growth_mib(rss)
    print("  streams and requests:", ", ".join(f"{n:,} {word}" for word, n in clients.counts.items()))
    seen = all(clients.counts[word] for word in ("whole", "left", "faulty", "refused"))
    return row(f"mixed traffic, {seconds} s: growth of the last half, MiB",
               "<= 1, nothing is left", f"{grown:.2f}; descriptors {before} and {after}, "
               f"{running:.0f} running, {clients.counts['wrong']} no prefix",
               grown <= 1 and before == after and running == 0 and seen
               and clients.counts["wrong"] == 0)
