"""Load tools: how each is run on a server, and its report under common names.

A latency is (mean, median) in ms.
"""

import json
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).parent
LONGEST_RUN_SECONDS = 900


class Failed(Exception):
    pass


def run(command, folder, **environment):
    done = subprocess.run([str(word) for word in command], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=LONGEST_RUN_SECONDS,
                          env={**os.environ, **environment})
    if done.returncode != 0:
        raise Failed(f"{command[0]} ended with {done.returncode}: {done.stdout[-2000:]}")
    return done.stdout


def aiperf(python, tokenizer, url, folder, streams, requests, tokens):
    """Output tokens as the server counts them: its own tokenizer is none of the mock's."""
    out = pathlib.Path(folder, "aiperf")
    run([python.parent / "aiperf", "profile", "--model", "mock", "--url", url,
         "--endpoint-type", "chat", "--streaming", "--tokenizer", tokenizer,
         "--concurrency", streams, "--request-count", requests, "--isl", 16, "--isl-stddev", 0,
         "--osl", tokens, "--osl-stddev", 0, "--ui", "none", "--artifact-dir", out,
         "--extra-inputs", "ignore_eos:true", "--random-seed", 1, "--no-gpu-telemetry",
         "--no-server-metrics", "--use-server-token-count"], folder)
    report = json.loads(next(out.rglob("profile_export_aiperf.json")).read_text())

    def latency(name):
        return report[name]["avg"], report[name]["p50"]

    return {"requests": int(report["request_count"]["avg"]),
            "ttft_ms": latency("time_to_first_token"), "itl_ms": latency("inter_token_latency"),
            "e2e_ms": latency("request_latency"),
            "tok_s": report["output_token_throughput"]["avg"]}


def guidellm(python, tokenizer, url, folder, streams, requests, tokens):
    out = pathlib.Path(folder, "guidellm.json")
    run([python.parent / "guidellm", "run", "--backend",
         f"kind=openai_http,target={url},model=mock", "--tokenizer",
         f"kind=huggingface_auto,model={tokenizer}", "--data",
         f"kind=synthetic_text,prompt_tokens=16,output_tokens={tokens}", "--profile",
         f"kind=concurrent,streams={streams}", "--constraint",
         f"kind=max_requests,count={requests}", "--output", f"kind=json,path={out}",
         "--disable-console"], folder, HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1")
    metrics = json.loads(out.read_text())["benchmarks"][0]["metrics"]

    def latency(name, scale=1):
        found = metrics[name]["successful"]
        return scale * found["mean"], scale * found["median"]

    return {"requests": metrics["request_totals"]["successful"],
            "ttft_ms": latency("time_to_first_token_ms"),
            "itl_ms": latency("inter_token_latency_ms"),
            "e2e_ms": latency("request_latency", 1e3),
            "tok_s": metrics["output_tokens_per_second"]["successful"]["mean"]}


def vllm(python, library, url, folder, streams, requests, tokens):
    out = pathlib.Path(folder, "vllm.json")
    run([python, HERE / "vllm_bench.py", library, url, streams, requests, tokens, out], folder)
    return json.loads(out.read_text())


def assay_load(assay, url, folder, streams, requests, tokens):
    out = pathlib.Path(folder, "load")
    words = [assay, "--quiet", "load", "--base-url", url, "--model", "mock", "--max-concurrency",
             streams, "--num-prompts", requests, "--input-len", 16, "--output-len", tokens,
             "--ignore-eos", "--output-dir", out]
    # Code 1 is a run that says itself what is wrong with it.
    done = subprocess.run([str(word) for word in words], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=LONGEST_RUN_SECONDS)
    if done.returncode not in (0, 1):
        raise Failed(f"assay load ended with {done.returncode}: {done.stdout[-2000:]}")
    record = json.loads((out / "load.json").read_text())
    metrics = record["metrics"]

    def latency(name):
        return metrics[name]["mean"], metrics[name]["median"]

    return {"requests": record["requests"]["successful"], "ttft_ms": latency("ttft_ms"),
            "itl_ms": latency("tpot_ms"), "e2e_ms": latency("e2e_ms"),
            "tok_s": metrics["output_throughput_tok_s"],
            "marks": record["client"]["reasons"] + record["delivered"]["reasons"]}
