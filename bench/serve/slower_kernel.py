"""A case whose kernel is slowed by 20 %: its tokens cost more by the GEMMs' share of them."""

import http.client
import json
import os
import pathlib
import statistics
import subprocess

from servers import Server

SLOWER = """#include <cstdint>
#include <vector>
void gemm(const float*, const float*, float*, int64_t, int64_t, int64_t);
// A fifth of the columns more, of weights that come round once a token like the model's own: the
// columns just computed would be in a nearer cache.
void slower(const float* a, const float* b, float* out, int64_t m, int64_t n, int64_t k) {
  static std::vector<float> weights(%d, 1.0f), ignored(1 << 20);
  static int64_t begin = 0;
  gemm(a, b, out, m, n, k);
  const int64_t columns = n / 5;
  if (begin + columns * k > static_cast<int64_t>(weights.size())) begin = 0;
  gemm(a, weights.data() + begin, ignored.data(), m, columns, k);
  begin += columns * k;
}
"""
CONFIG = {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4,
          "intermediate_size": 640, "vocab_size": 1280}
# A fifth of the model's weights: four square matrices and three of the MLP a layer, and the head.
FIFTH = (4 * (4 * 256 * 256 + 3 * 256 * 640) + 256 * 1280) // 5


def make_case(assay, folder):
    """A lab with one case of a small model, whose backend has both kernels."""
    def call(*words, cwd=folder):
        subprocess.run([assay, "--quiet", *words], check=True, cwd=cwd,
                       stdout=subprocess.DEVNULL)
    call("lab", "init", "lab")
    lab = pathlib.Path(folder, "lab")
    call("lab", "new", "--model-slug", "one", "--case-slug", "first", "--model-name", "mock",
         "--model-path", "model", "--hardware", "here", cwd=lab)
    (lab / "model").mkdir()
    (lab / "model/config.json").write_text(json.dumps(CONFIG))
    case = lab / "cases/one/first"
    (case / "workspace/ops/cpp/slower.cc").write_text(SLOWER % FIFTH)
    hooks = case / "workspace/backend/hooks.cc"
    text = hooks.read_text()
    for old, new in (('{"cpp_gemm", gemm},', '{"cpp_gemm", gemm}, {"slower", slower},'),
                     ("void gemm(", "void slower(const float*, const float*, float*, int64_t, "
                      "int64_t, int64_t);\nvoid gemm(")):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    hooks.write_text(text)
    subprocess.run([case / "workspace/scripts/build.sh"], check=True, stdout=subprocess.DEVNULL)
    return case


def choose(case, hook):
    file = case / "workspace/backend/env.defaults"
    lines = [f"HOOK_GEMM={hook}" if line.startswith("HOOK_GEMM=") else line
             for line in file.read_text().splitlines()]
    file.write_text("\n".join(lines) + "\n")


def descendants(pid):
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield int(child)
            yield from descendants(int(child))


def backend_of(pid):
    """The child that has loaded the backend: not its supervisor."""
    for child in descendants(pid):
        words = pathlib.Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
        if b"backend" in words and b"supervise" not in words:
            return child
    raise RuntimeError("the server has no child with a backend")


def cpu_of(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def tokens_a_second(assay, case, folder, hook, tokens):
    """Of CPU time of the child with the backend, which others on the machine cannot lengthen."""
    choose(case, hook)
    port_file = os.path.join(folder, "port")
    if os.path.exists(port_file):
        os.unlink(port_file)
    with Server([assay, "serve", "--case", str(case), "--port", "0", "--port-file", port_file],
                port_file) as server:
        child = backend_of(server.process.pid)
        before = cpu_of(child)
        peer = http.client.HTTPConnection("127.0.0.1", server.port)
        peer.request("POST", "/v1/completions", json.dumps(
            {"prompt": "hi", "max_tokens": tokens, "ignore_eos": True}),
            {"Content-Type": "application/json"})
        assert json.loads(peer.getresponse().read())["usage"]["completion_tokens"] == tokens
        peer.close()
        return tokens / (cpu_of(child) - before)


def slower_row(row, assay, folder, quick):
    case = make_case(assay, folder)
    good, slow = [], []
    for _ in range(2 if quick else 7):
        for hook, rates in (("cpp_gemm", good), ("slower", slow)):
            rates.append(tokens_a_second(assay, case, folder, hook, 500 if quick else 2000))
    ratio = statistics.median(slow) / statistics.median(good)
    # All but the GEMMs is a few texts: their share is next to all of it.
    return row("tokens a CPU second of a case whose kernel is slowed by 20 %", "0.80 to 0.87 x",
               f"{ratio:.3f} x of {statistics.median(good):,.0f}", 0.80 <= ratio <= 0.87)
