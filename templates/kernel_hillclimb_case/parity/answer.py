#!/usr/bin/env python3
"""Answers the prompts of $ASSAY_PROMPTS by a toy decoder whose every product is the workspace's
kernel ops/cpp/gemm.cc, without a server: seeded weights, greedy tokens. Put your model in its place.
"""

import ctypes
import json
import math
import os
import pathlib
import random
import subprocess
import tempfile

WIDTH, WORDS = 48, 96
SOURCE = """#include "{}"
extern "C" void product(const float* a, const float* b, float* out, int64_t n, int64_t k) {{
  gemm(a, b, out, 1, n, k);
}}
"""


def kernel(file):
    with tempfile.TemporaryDirectory() as folder:
        made = folder + "/kernel.so"
        subprocess.run([os.environ.get("CXX", "c++"), "-std=c++17", "-O2", "-march=native", "-shared",
                        "-fPIC", "-x", "c++", "-", "-o", made],
                       input=SOURCE.format(file).encode(), check=True)
        return ctypes.CDLL(made).product


def floats(values):
    return (ctypes.c_float * len(values))(*values)


def seeded(seed, rows):
    draw = random.Random(seed)
    return floats([draw.gauss(0, 1 / math.sqrt(WIDTH)) for _ in range(rows * WIDTH)])


def times(product, vector, weights, rows):
    out = floats([0.0] * rows)
    product(floats(vector), weights, out, ctypes.c_int64(rows), ctypes.c_int64(WIDTH))
    return list(out)


def answer(product, prompt, count):
    words, mix, head = seeded("words", WORDS), seeded("mix", WIDTH), seeded("head", WORDS)
    state = [0.0] * WIDTH
    tokens, logits = [], []
    text = [byte % WORDS for byte in prompt.encode()] or [0]
    while len(tokens) < count:
        for token in text:
            mixed = times(product, state, mix, WIDTH)
            state = [math.tanh(6 * words[token * WIDTH + i] + mixed[i]) for i in range(WIDTH)]
        scores = times(product, state, head, WORDS)
        best, second = sorted(range(WORDS), key=lambda word: -scores[word])[:2]
        tokens.append(best)
        logits.append([round(scores[best], 4), round(scores[second], 4)])
        text = [best]
    return tokens, logits


def main():
    workspace = pathlib.Path(os.environ.get("ASSAY_WORKSPACE", "workspace"))
    product = kernel((workspace / "ops" / "cpp" / "gemm.cc").resolve())
    with open(os.environ["ASSAY_PROMPTS"], encoding="utf-8") as prompts:
        for line in filter(str.strip, prompts):
            asked = json.loads(line)
            tokens, logits = answer(product, asked["prompt"], asked.get("max_tokens", 32))
            print(json.dumps({"id": asked["id"], "tokens": tokens, "logits": logits}))


if __name__ == "__main__":
    main()
