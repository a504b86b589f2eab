"""A server on a core of its own, and what it costs."""

import os
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE, CLIENT_CORE = CORES[0], CORES[-1]


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

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)


def start_ours(assay, folder, more=()):
    port_file = os.path.join(folder, "port")
    for name in ("port", "stamps", "log"):
        if os.path.exists(os.path.join(folder, name)):
            os.unlink(os.path.join(folder, name))
    return Server([assay, "serve", "--port", "0", "--port-file", port_file, "--quiet",
                   "--log", os.path.join(folder, "log"), *more], port_file)


def start_theirs():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return Server([sys.executable, "-m", "uvicorn", "--app-dir", HERE, "fastapi_server:app",
                   "--port", str(port), "--no-access-log", "--log-level", "error"], port=port)
