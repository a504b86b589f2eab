"""`assay serve` for a client's test, and the truth that it stamps."""

import contextlib
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

WATCHDOG_SECONDS = 120


class Served:
    def __init__(self, process, folder):
        self.process = process
        self.folder = folder
        self.port = int((folder / "port").read_text())
        self._stamps_read = 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def new_stamps(self):
        """Lines of answers that ended since the last time. A line is written when its answer ends,
        which may be a moment after its client has read it."""
        lines = (self.folder / "stamps").read_text().splitlines()
        fresh = [json.loads(line) for line in lines[self._stamps_read:]]
        self._stamps_read = len(lines)
        return [stamp for stamp in fresh if stamp["ending"] == "done"]


@contextlib.contextmanager
def served(assay, *flags, behind=()):
    """behind: the command of the server that --backend process starts."""
    with tempfile.TemporaryDirectory(prefix="assay-clients-") as name:
        folder = pathlib.Path(name)
        command = [assay, "--quiet", "serve", "--port", "0", "--port-file", "port", "--model",
                   "mock", *flags, *(["--", *behind] if behind else ["--stamps", "stamps"])]
        process = subprocess.Popen([str(word) for word in command], cwd=folder)
        try:
            deadline = time.monotonic() + WATCHDOG_SECONDS
            while not (folder / "port").exists():
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError("the server does not listen")
                time.sleep(0.01)
            yield Served(process, folder)
        finally:
            process.terminate()
            process.wait(WATCHDOG_SECONDS)


def truth(stamps):
    """(mean, median) in ms by the server's own times: what a client can see at best."""
    def latency(values):
        return statistics.mean(values), statistics.median(values)

    first = [s["token_ns"][0] for s in stamps]
    last = [s["token_ns"][-1] for s in stamps]
    accepted = [s["accepted_ns"] for s in stamps]
    counts = [len(s["token_ns"]) for s in stamps]
    return {"requests": len(stamps),
            "ttft_ms": latency([(f - a) / 1e6 for f, a in zip(first, accepted)]),
            "itl_ms": latency([(e - f) / 1e6 / max(1, n - 1)
                               for e, f, n in zip(last, first, counts)]),
            "e2e_ms": latency([(e - a) / 1e6 for e, a in zip(last, accepted)]),
            "tok_s": sum(counts) / ((max(last) - min(accepted)) / 1e9)}
