"""vllm_bench.py FOLDER URL STREAMS REQUESTS TOKENS REPORT: requests as `vllm bench serve` sends
them, by its own file endpoint_request_func.py in FOLDER."""

import asyncio
import json
import statistics
import sys
import time

import aiohttp

sys.path.insert(0, sys.argv[1])
import endpoint_request_func as vllm  # noqa: E402

URL, STREAMS, REQUESTS, TOKENS, REPORT = sys.argv[2], *map(int, sys.argv[3:6]), sys.argv[6]


def asked(number, chat):
    return vllm.RequestFuncInput(
        prompt=f"Tell number {number} something.", prompt_len=6, output_len=TOKENS, model="mock",
        api_url=URL + ("/v1/chat/completions" if chat else "/v1/completions"), ignore_eos=True,
        request_id=f"bench-{number}", extra_body={"temperature": 0.0})


async def main():
    # The session of vllm/benchmarks/serve.py.
    connector = aiohttp.TCPConnector(
        limit=STREAMS, limit_per_host=STREAMS, ttl_dns_cache=300, use_dns_cache=True,
        keepalive_timeout=60, enable_cleanup_closed=True, force_close=False)
    async with aiohttp.ClientSession(connector=connector, trust_env=True,
                                     timeout=vllm.AIOHTTP_TIMEOUT) as session:
        other = await vllm.async_request_openai_completions(asked(REQUESTS, False), session)
        assert other.success, other.error
        slots = asyncio.Semaphore(STREAMS)

        async def one(number):
            async with slots:
                return await vllm.async_request_openai_chat_completions(asked(number, True),
                                                                        session)

        begun = time.perf_counter()
        outputs = await asyncio.gather(*map(one, range(REQUESTS)))
        seconds = time.perf_counter() - begun
    for output in outputs:
        assert output.success, output.error
    tokens = [output.output_tokens for output in outputs]
    tpot = [(o.latency - o.ttft) / (n - 1) for o, n in zip(outputs, tokens) if n > 1]
    report = {"requests": len(outputs), "tok_s": sum(tokens) / seconds}
    for name, values in (("ttft_ms", [o.ttft for o in outputs]), ("itl_ms", tpot),
                         ("e2e_ms", [o.latency for o in outputs])):
        report[name] = [1e3 * statistics.mean(values), 1e3 * statistics.median(values)]
    with open(REPORT, "w", encoding="utf-8") as file:
        json.dump(report, file)


asyncio.run(main())
