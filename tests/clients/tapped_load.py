"""`assay load` on servers that are not ours, held against a tap between them."""

import contextlib
import http.client
import json
import pathlib
import socket
import statistics
import subprocess
import tempfile
import time

import llama
import tap
import tools

LONGEST_WAIT_SECONDS = 180
STREAMS, REQUESTS, TOKENS = 4, 24, 24
# Stamps of two clocks are brought together; and ours until the kernel stamps.
EARLY_MS, MEDIAN_MS = 0.05, 1


@contextlib.contextmanager
def started(command, port):
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + LONGEST_WAIT_SECONDS
        while True:
            with contextlib.suppress(OSError, http.client.HTTPException):
                if llama.ask(port, None, "/health")[0] == 200:
                    break
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{command[0]} does not get ready")
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(LONGEST_WAIT_SECONDS)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def token_times(answer, ns_at):
    """ns of each event that brings text, by its last byte."""
    times, at = [], 0
    for line in answer.body.splitlines(keepends=True):
        at += len(line)
        text = line.strip()
        if not text.startswith(b"data: {"):
            continue
        choices = json.loads(text[6:]).get("choices") or [{}]
        delta = choices[0].get("delta", {})
        if delta.get("content") or delta.get("reasoning_content"):
            times.append(ns_at(answer.place(at - 1)))
    return times


def compared(assay, port):
    """Checks of a run through a tap: (name, measured, holds) each."""
    with tempfile.TemporaryDirectory() as own, tap.Tap(port) as between:
        told = tools.assay_load(assay, f"http://127.0.0.1:{between.port}", own, STREAMS, REQUESTS,
                                TOKENS)
        lines = subprocess.run([assay, "load", "show", pathlib.Path(own, "load"), "--samples"],
                               stdout=subprocess.PIPE, text=True, check=True).stdout
        truth = {tap.header(request.head, "x-request-id"): (asked_ns, token_times(answer, ns_at))
                 for request, asked_ns, answer, ns_at in between.exchanges()
                 if b"text/event-stream" in answer.head.lower()}
    early, apart, counts = 0, [], 0
    samples = [json.loads(line) for line in lines.splitlines()]
    for sample in samples:
        asked_ns, times = truth.get(sample["request_id"], (0, []))
        seen = [at for at, _, kind in sample["events"] if kind > 0]
        counts += len(seen) == len(times) > 0
        # From the request on: what the tap takes to pass it on is in both.
        for at, passed in zip(seen, times):
            apart.append((at - sample["sent_ns"] - (passed - asked_ns)) / 1e6)
            early += apart[-1] < -EARLY_MS
        early += seen != sorted(seen)
    yield "requests", f"{told['requests']} of {REQUESTS}", told["requests"] == REQUESTS
    yield ("events of each answer, as many as passed", f"{counts} of {REQUESTS} answers",
           counts == len(samples) == REQUESTS)
    median = statistics.median(apart) if apart else float("inf")
    yield ("times behind the tap's", f"median {median:.3f} ms, {early} of {len(apart)} before it",
           early == 0 and median <= MEDIAN_MS)


def on_llama_server(assay, server, model):
    port = free_port()
    # It computes all the time: tap and client are to have a core as soon as they want one.
    with started(["nice", "-n", "19", *llama.command(server, model, str(port))], port):
        yield from compared(assay, port)


def on_guidellm_mock(assay, python):
    port = free_port()
    with started([python.parent / "guidellm", "mock-server", "--port", port, "--model", "mock",
                  "--ttft-ms", "150", "--itl-ms", "15"], port):
        yield from compared(assay, port)
