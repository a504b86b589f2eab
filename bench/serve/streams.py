"""Many streams at a time: how much later than due the server sends tokens, by its own stamps."""

import collections
import json
import os
import subprocess
import sys
import threading
import time

from servers import CLIENT_CORE, SERVER_CORE, start_ours

HERE = os.path.dirname(os.path.abspath(__file__))
GAP_NS = 10_000_000  # 100 tokens a second.
BUCKET_NS = 10_000
FRAME_BYTES = 240  # Of one of the mock's tokens.


class Delays:
    """A histogram: 1,000 streams make 6 million of them in a minute."""

    def __init__(self):
        self.counts = collections.Counter()
        self.whole = 0  # Answers that have every token.

    def add(self, delays_ns, wanted):
        self.counts.update(max(0, delay) // BUCKET_NS for delay in delays_ns)
        self.whole += len(delays_ns) == wanted

    def percentile_ms(self, share):
        left = share * sum(self.counts.values())
        for bucket in sorted(self.counts):
            left -= self.counts[bucket]
            if left <= 0:
                return (bucket + 1) * BUCKET_NS / 1e6
        return float("inf")


def mock_delays(stamp):
    return [sent - due for sent, due in zip(stamp["token_ns"], stamp["due_ns"])]


def paced_delays(stamp):
    """Of bench/serve/paced_backend.c, whose steps are due at multiples of 10 ms of the same clock.

    The token that waited least tells the step of the first one: it waited less than a step.
    """
    steps = [sent - i * GAP_NS for i, sent in enumerate(stamp["token_ns"])]
    first = min(steps, default=0) // GAP_NS * GAP_NS
    return [step - first for step in steps]


def core_alone(seconds):
    """Delays of a loop on the server's core that is due each millisecond and does nothing else.

    What it is late by, no server can help: the machine was away.
    """
    code = ("import json,sys,time\n"
            "end=time.monotonic_ns()+int(float(sys.argv[1])*1e9)\n"
            "due=time.monotonic_ns();late=[]\n"
            "while due<end:\n"
            "    now=time.monotonic_ns()\n"
            "    if now<due: time.sleep((due-now)/1e9); continue\n"
            "    late.append(now-due); due+=1000000\n"
            "print(json.dumps(late))\n")
    told = subprocess.run([sys.executable, "-c", code, str(seconds)], check=True,
                          stdout=subprocess.PIPE, text=True,
                          preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CORE})).stdout
    delays = Delays()
    delays.add(json.loads(told), 0)
    return delays


def send_alone(folder, streams, seconds):
    """What send(2) takes of so many streams without any server: microseconds of a call, and ms
    later than due: half of the frames and 99 % at most."""
    loop = os.path.join(folder, "paced_loop")
    subprocess.run(["cc", "-O2", "-o", loop, os.path.join(HERE, "paced_loop.c")], check=True)
    told = subprocess.run([loop, str(streams), str(seconds), str(FRAME_BYTES), str(SERVER_CORE),
                           str(CLIENT_CORE)], check=True, stdout=subprocess.PIPE, text=True,
                          preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CORE, CLIENT_CORE}))
    return [float(word) for word in told.stdout.split()]


def run(assay, folder, streams, seconds, more, delays_of):
    """(delays, of the core alone ahead and behind, most MiB, what the client says)"""
    alone = core_alone(seconds / 6)
    tokens = int(seconds * 1e9 / GAP_NS)
    stamps = os.path.join(folder, "stamps")
    with start_ours(assay, folder, ["--stamps", stamps, *more]) as server:
        done, most = threading.Event(), [0.0]

        def watch():
            while not done.wait(0.2):
                most[0] = max(most[0], server.rss_mib())
        watcher = threading.Thread(target=watch)
        watcher.start()
        told = json.loads(subprocess.run(
            ["taskset", "-c", str(CLIENT_CORE), assay, "load", "--base-url",
             f"http://127.0.0.1:{server.port}", "--model", "mock", "--quiet", "--json",
             "--output-dir", os.path.join(folder, "out"), "--dataset-name", "fixed", "--prompt",
             "hi", "--max-concurrency", str(streams), "--num-prompts", str(streams),
             "--output-len", str(tokens), "--ignore-eos"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout)
        done.set()
        watcher.join()
        time.sleep(0.5)  # The last stamps are written once the last answer has ended.
    alone.counts.update(core_alone(seconds / 6).counts)
    delays = Delays()
    with open(stamps, encoding="utf-8") as lines:
        for line in lines:
            delays.add(delays_of(json.loads(line)), tokens)
    return delays, alone, most[0], told


def row_of(row, name, bound_ms, most_mib, streams, result):
    delays, alone, mib, told = result
    p99 = delays.percentile_ms(0.99)
    whole = (delays.whole == streams and told["requests"]["successful"] == streams
             and told["tokens"]["mismatch"] == 0)
    return row(name, f"p99 <= {bound_ms} ms" + (f", <= {most_mib} MiB" if most_mib else ""),
               f"p50 {delays.percentile_ms(0.5):.2f}, p99 {p99:.2f} ms, {mib:.0f} MiB, "
               f"{delays.whole} of {streams} whole; the core alone: p99 "
               f"{alone.percentile_ms(0.99):.2f} ms",
               p99 <= bound_ms and whole and (not most_mib or mib <= most_mib))


def mock_row(row, assay, folder, quick):
    streams, seconds = (200, 3) if quick else (1000, 60)
    each_us, half_ms, most_ms = send_alone(folder, streams, seconds / 4)
    print(f"  send(2) alone at that pace: {each_us:.1f} us each, p50 {half_ms:.2f}, p99 "
          f"{most_ms:.2f} ms", flush=True)
    result = run(assay, folder, streams, seconds, ["--mock-itl-ms", "10"], mock_delays)
    return row_of(row, f"{streams:,} streams of 100 tok/s, {seconds} s: added delay", 5, 150,
                  streams, result)


def plugin_row(row, assay, folder, quick):
    streams, seconds = (50, 3) if quick else (300, 60)
    plugin = os.path.join(folder, "paced_backend.so")
    subprocess.run(["cc", "-std=gnu99", "-O2", "-shared", "-fPIC", "-I",
                    os.path.join(HERE, "../../src"), "-o", plugin,
                    os.path.join(HERE, "paced_backend.c")], check=True)
    result = run(assay, folder, streams, seconds,
                 ["--backend", "plugin", "--plugin", plugin, "--model", "mock"], paced_delays)
    return row_of(row, f"{streams} streams of 100 tok/s through a plug-in, {seconds} s: added delay",
                  10, 0, streams, result)
