#!/usr/bin/env python3
"""Real clients and a real server, each held against what is known of the truth.

run.py ASSAY CACHE [--only WORD...] [--table] [--record FOLDER]
CACHE keeps what is installed and built from run to run: 1.2 GB for aiperf, 6 GB for guidellm.
One line a check; code 1 if one fails. --table prints the three load tools side by side, and checks
nothing. --record keeps requests as they were sent, one file each.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import environments
import llama
import served
import tap
import tapped_load
import tools

HERE = pathlib.Path(__file__).parent
MOCK = ("--mock-ttft-ms", "200", "--mock-itl-ms", "20")
STREAMS, REQUESTS, TOKENS = 4, 40, 32
WITHIN = 0.05


def byte_tokenizer(python):
    folder = CACHE / "byte_tokenizer"

    def make():
        environments.call(python, HERE / "byte_tokenizer.py", folder)

    return environments.once(folder, "1", make)


def tool(name):
    """The tool's run(url, folder, streams, requests, tokens), with all that it needs installed."""
    if name == "assay":
        return lambda *words: tools.assay_load(ASSAY, *words)
    if name == "aiperf":
        python = environments.python_with(CACHE, environments.AIPERF)
        tokenizer = byte_tokenizer(python)
        return lambda *words: tools.aiperf(python, tokenizer, *words)
    if name == "guidellm":
        python = environments.python_with(CACHE, environments.GUIDELLM)
        tokenizer = byte_tokenizer(python)
        return lambda *words: tools.guidellm(python, tokenizer, *words)
    library = environments.vllm_bench(CACHE)
    python = environments.python_with(CACHE, "aiohttp==3.13.2", "regex", "tqdm")
    return lambda *words: tools.vllm(python, library, *words)


def record_requests(name, run_tool, folder):
    """A short run through a tap, and the first request to each place."""
    with served.served(ASSAY) as ours, tempfile.TemporaryDirectory() as own, \
            tap.Tap(ours.port) as between:
        run_tool(f"http://127.0.0.1:{between.port}", own, 1, 2, 8)
        seen = set()
        for head, body in between.requests():
            place = head.split(b" ")[1].decode().strip("/").replace("/", "_")
            if place not in seen:
                (folder / f"{name}_{place}.http").write_bytes(head + b"\r\n\r\n" + body)
            seen.add(place)


def row_of_tool(name):
    """Medians: one slow start of a client is no disagreement about the server."""
    run_tool = tool(name)
    if RECORD:
        record_requests(name, run_tool, RECORD)
    with served.served(ASSAY, *MOCK) as ours, tempfile.TemporaryDirectory() as own:
        told = run_tool(ours.url, own, STREAMS, REQUESTS, TOKENS)
        truth = served.truth([stamp for stamp in ours.new_stamps()
                              if len(stamp["token_ns"]) == TOKENS])
    # guidellm ends a run when the last request was sent.
    yield (f"{name}: answers", f"{told['requests']} of {REQUESTS}",
           REQUESTS - STREAMS <= told["requests"] <= REQUESTS)
    for key in ("ttft_ms", "itl_ms", "e2e_ms"):
        seen, true = told[key][1], truth[key][1]
        yield (f"{name}: median {key} against the stamps", f"{seen:.2f} of {true:.2f}",
               abs(seen / true - 1) <= WITHIN)


def row_of_llama():
    server, model = environments.llama_server(CACHE), environments.weights(CACHE)
    through, own = llama.greedy_text(ASSAY, server, model)
    yield "llama-server: greedy text through us is its own", repr(through[:60]), through == own
    got, sent = llama.streams_are_its_own(ASSAY, server, model)
    whole = len(got) == len(sent) == 4 and all(part.endswith(b"data: [DONE]\n\n") for part in got)
    yield ("llama-server: streams are its own bytes", f"{sum(map(len, got)):,} bytes",
           whole and got == sent)
    record, answers = llama.killed_under_load(ASSAY, server, model)
    requests = record["requests"]
    yield ("llama-server: killed under load, and started again",
           f"{requests['successful']} successful, {requests['errored']} errored",
           answers and requests["successful"] > 4 and requests["errored"] > 0)


def row_of_truth():
    """What `assay load` tells of servers that are not ours."""
    if "llama" in arguments.only:
        server, model = environments.llama_server(CACHE), environments.weights(CACHE)
        for check, *rest in tapped_load.on_llama_server(ASSAY, server, model):
            yield f"assay on llama-server: {check}", *rest
    if "guidellm" in arguments.only:
        python = environments.python_with(CACHE, environments.GUIDELLM)
        for check, *rest in tapped_load.on_guidellm_mock(ASSAY, python):
            yield f"assay on guidellm's mock: {check}", *rest


CASE = """schema: assay.case/1
model: {name: t, path: m}
hardware: {name: h}
benchmarks: [benchmarks/run.yaml]
objective: {metric: run.time_us, direction: minimize}
fixed: [benchmarks/**]
confirm: {looks: [6], budget_s: 600}
"""
BENCHMARK = """schema: assay.benchmark/1
name: run
kind: shell_json
command: [echo, '{"time_us": 5}']
"""
MCP_TOOLS = ["brief", "diff", "evaluate", "history", "kernels", "profile", "race", "show", "status",
             "why"]


def row_of_mcp():
    """A case of a lab, by the public Python client of the Model Context Protocol alone."""
    python = environments.python_with(CACHE, environments.MCP)
    with tempfile.TemporaryDirectory() as own:
        case = pathlib.Path(own, "cases/toy/one")
        (case / "benchmarks").mkdir(parents=True)
        (case / "workspace").mkdir()
        pathlib.Path(own, "lab.yaml").write_text("schema: assay.lab/1\n")
        (case / "case.yaml").write_text(CASE)
        (case / "benchmarks/run.yaml").write_text(BENCHMARK)
        told = subprocess.run([python, HERE / "mcp_client.py", ASSAY, case], check=True,
                              capture_output=True, text=True,
                              env=dict(os.environ, ASSAY_CACHE_DIR=own + "/cache",
                                       ASSAY_LOCK_DIR=own + "/locks")).stdout
    seen = json.loads(told)
    yield "mcp: who answers", seen["server"], seen["server"] == "assay"
    yield ("mcp: tools, by both of its clients", f"{len(seen['high'])}",
           seen["high"] == seen["low"]["tools"] == MCP_TOOLS)
    says = {"brief": "Objective", "evaluate": "baseline", "profile": "profile", "show": "baseline"}
    calls = seen["low"]["calls"]
    for name, failed, text in calls[:4] + calls[5:6]:
        yield f"mcp: {name}", text.strip().splitlines()[-1][:60], \
            not failed and says.get(name, "") in text
    for at in (4, 6):
        name, failed, text = calls[at]
        yield f"mcp: {name} refuses what is wrong", text.strip()[:60], failed


def table():
    """The same mock, closed loops: what each tool says beside what the server stamped."""
    run_tools = {name: tool(name) for name in ("aiperf", "guidellm", "assay")}
    print("streams tool         n   TTFT   true    ITL   true    whole     true  tok/s   true")
    for streams in (4, 64, 512):
        for name, run_tool in run_tools.items():
            with served.served(ASSAY, *MOCK) as ours, tempfile.TemporaryDirectory() as own:
                told = run_tool(ours.url, own, streams, max(40, 4 * streams), TOKENS)
                true = served.truth([stamp for stamp in ours.new_stamps()
                                     if len(stamp["token_ns"]) == TOKENS])
            print(f"{streams:7} {name:9}{told['requests']:5} "
                  f"{told['ttft_ms'][0]:6.1f} {true['ttft_ms'][0]:6.1f} "
                  f"{told['itl_ms'][0]:6.2f} {true['itl_ms'][0]:6.2f} "
                  f"{told['e2e_ms'][0]:8.1f} {true['e2e_ms'][0]:8.1f} "
                  f"{told['tok_s']:6.0f} {true['tok_s']:6.0f}  {'; '.join(told.get('marks', []))}",
                  flush=True)


ROWS = {"llama": row_of_llama, "mcp": row_of_mcp}
TOOLS = ("aiperf", "guidellm", "vllm", "assay")
parser = argparse.ArgumentParser(description=__doc__,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("assay", type=lambda path: pathlib.Path(path).resolve())
parser.add_argument("cache", type=lambda path: pathlib.Path(path).resolve())
parser.add_argument("--only", nargs="*", choices=[*TOOLS, "llama", "mcp"],
                    default=["aiperf", "assay", "mcp"])
parser.add_argument("--table", action="store_true")
parser.add_argument("--record", type=pathlib.Path)
arguments = parser.parse_args()
ASSAY, CACHE, RECORD = arguments.assay, arguments.cache, arguments.record
CACHE.mkdir(parents=True, exist_ok=True)
if arguments.table:
    sys.exit(table())
failed = 0
rows = [ROWS[word]() if word in ROWS else row_of_tool(word) for word in arguments.only]
for row in [*rows, row_of_truth()]:
    for check, measured, holds in row:
        print(f"{'ok' if holds else 'FAILED':6} {check}: {measured}", flush=True)
        failed += not holds
sys.exit(1 if failed else 0)
