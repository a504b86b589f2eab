"""What assay.race costs beyond the program's own time, in pairs of the same command: through
Python, and started directly with its output thrown into a file; who goes first changes from pair
to pair. Prints JSON. Needs the package on PYTHONPATH.

    overhead.py FOLDER PAIRS
"""

import json
import os
import shutil
import statistics
import sys
import time
from pathlib import Path

import assay
from assay import _program

SOURCE = """
// assay: {entry: gemm, a: f32, b: f32, out: f32, layout: tt, args: [a, b, out, m, n, k]%s}
#include <cstdint>
extern "C" void gemm(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) out[i * n + j] = 0;
    for (int64_t p = 0; p < k; ++p)
      for (int64_t j = 0; j < n; ++j) out[i * n + j] += a[i * k + p] * b[p * n + j];
  }
}
"""
SHAPE = "m=4,n=256,k=256,dtype=f32,layout=tt"
FLAGS = {"threads": 1, "budget": 0.05, "processes": 2, "output_dir": "run", "lock_dir": "locks"}


def directly(file: str) -> float:
    """The same words without Python in between."""
    flags = _program.flag_words({**_program.shape_flags(SHAPE), **FLAGS})
    words = [str(_program.BINARY), "race", file, *flags, "--json", "--quiet"]
    mode = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, "direct.json", mode, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, "direct.err", mode, 0o600),
    ]
    start = time.perf_counter()
    child = os.posix_spawn(words[0], words, os.environ, file_actions=actions)
    _, status = os.waitpid(child, 0)
    seconds = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) not in (0, 1, 4):  # 4: refused.
        raise SystemExit(Path("direct.err").read_text())
    return seconds


def through_python(file: str) -> float:
    start = time.perf_counter()
    assay.race(file, SHAPE, **FLAGS)
    return time.perf_counter() - start


def median_interval(values):
    """The median and the order statistics that hold it in 95 of 100 cases (binomial)."""
    ordered = sorted(values)
    count = len(ordered)
    tail, rank, term = 0.0, 0, 0.5**count
    while rank < count // 2:
        tail += term
        if tail > 0.025:
            break
        term *= (count - rank) / (rank + 1)
        rank += 1
    rank = max(rank - 1, 0)
    return statistics.median(ordered), ordered[rank], ordered[count - 1 - rank]


def measure(file: str, pairs: int):
    differences, direct = [], []
    for pair in range(pairs + 1):
        times = {}
        for call in (directly, through_python) if pair % 2 else (through_python, directly):
            shutil.rmtree("run", ignore_errors=True)
            times[call] = call(file)
        if pair > 0:  # The first one compiles and fills caches.
            differences.append((times[through_python] - times[directly]) * 1e3)
            direct.append(times[directly] * 1e3)
    median, low, high = median_interval(differences)
    return {
        "pairs": pairs,
        "overhead_ms": median,
        "low_ms": low,
        "high_ms": high,
        "program_ms": statistics.median(direct),
        "differences_ms": differences,
    }


def main() -> None:
    folder, pairs = sys.argv[1], int(sys.argv[2])
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    os.environ["ASSAY_CACHE_DIR"] = os.path.abspath("cache")
    Path("race.cc").write_text(SOURCE % "")
    Path("refused.cc").write_text(SOURCE % ", divisibility: {k: 7}")
    found = {name: measure(f"{name}.cc", pairs) for name in ("refused", "race")}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
