"""The backend `process` with a real server and a real model: llama-server and SmolLM2-135M."""

import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import served
import tap

HERE = pathlib.Path(__file__).parent
LONGEST_WAIT_SECONDS = 180
QUESTION = {"model": "mock", "messages": [{"role": "user", "content":
            "What is the capital of France?"}], "temperature": 0, "max_tokens": 24}


def command(server, model, port="{port}"):
    return [str(server), "-m", str(model), "--host", "127.0.0.1", "--port", port, "-c", "8192",
            "--parallel", "4", "-t", "1", "--offline"]


def ask(port, body, path="/v1/chat/completions"):
    """(status, body) of one answer."""
    peer = http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST_WAIT_SECONDS)
    try:
        method = "GET" if body is None else "POST"
        peer.request(method, path, None if body is None else json.dumps(body),
                     {"Content-Type": "application/json"})
        answer = peer.getresponse()
        return answer.status, answer.read()
    finally:
        peer.close()


def await_ready(port):
    deadline = time.monotonic() + LONGEST_WAIT_SECONDS
    while ask(port, None, "/health")[0] != 200:
        if time.monotonic() > deadline:
            raise RuntimeError("the server behind assay is not ready")
        time.sleep(0.05)


def descendants(pid):
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += [int(child), *descendants(int(child))]
    return found


def pid_of(server, pid):
    """The process below `pid` that runs the program `server`."""
    for child in descendants(pid):
        if os.path.realpath(f"/proc/{child}/exe") == os.path.realpath(server):
            return child
    raise RuntimeError(f"no {server} below {pid}")


def streams_are_its_own(assay, server, model):
    """Bytes of streams that came through us, and those that llama-server sent."""
    with tempfile.TemporaryDirectory() as kept:
        words = [sys.executable, HERE / "tapped_server.py", "{port}", kept,
                 *command(server, model, tap.FREE_PORT)]
        with served.served(assay, "--backend", "process", behind=words) as ours:
            await_ready(ours.port)
            got = [ask(ours.port, {**QUESTION, "stream": True,
                                   "stream_options": {"include_usage": True}})[1]
                   for _ in range(4)]
            sent = [body for path in sorted(pathlib.Path(kept).glob("*.answered"))
                    for head, body in tap.split_messages(path.read_bytes())
                    if b"text/event-stream" in head]
    return got, sent


def greedy_text(assay, server, model):
    """What llama-server says through us, and what it says by itself."""
    def text(port):
        return json.loads(ask(port, QUESTION)[1])["choices"][0]["message"]["content"]

    with served.served(assay, "--backend", "process", behind=command(server, model)) as ours:
        await_ready(ours.port)
        through = text(ours.port)
        behind = pathlib.Path(f"/proc/{pid_of(server, ours.process.pid)}/cmdline")
        own = behind.read_bytes().split(b"\0")
        return through, text(int(own[own.index(b"--port") + 1]))


def killed_under_load(assay, server, model):
    """Kills llama-server with SIGKILL while it is under load: (record, answered afterwards)."""
    with served.served(assay, "--backend", "process", "--log", "log",
                       behind=command(server, model)) as ours:
        await_ready(ours.port)
        load = subprocess.Popen(
            [assay, "--quiet", "load", "--base-url", ours.url, "--model", "mock",
             "--max-concurrency", "4", "--duration", "20", "--dataset-name", "fixed",
             "--output-len", "32", "--output-dir", "load"], cwd=ours.folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + LONGEST_WAIT_SECONDS
        while (ours.folder / "log").read_text().count("/chat/") < 4:
            if time.monotonic() > deadline:
                raise RuntimeError("llama-server answers nothing")
            time.sleep(0.05)
        os.kill(pid_of(server, ours.process.pid), signal.SIGKILL)
        load.wait(LONGEST_WAIT_SECONDS)
        await_ready(ours.port)
        status, _ = ask(ours.port, QUESTION)
        return json.loads((ours.folder / "load/load.json").read_text()), status == 200
