"""The public Python client of the Model Context Protocol against `assay mcp`: a case, by tools alone.

mcp_client.py ASSAY LAB_CASE: one JSON object of what it saw. LAB_CASE is a case's folder.
"""

import asyncio
import json
import os
import sys

import mcp

ASSAY, CASE = sys.argv[1:]


def text_of(result):
    return "".join(part.text for part in result.content)


async def talk(client):
    tools = (await client.list_tools()).tools
    seen = {"tools": sorted(tool.name for tool in tools),
            "required": {tool.name: (tool.input_schema or {}).get("required", []) for tool in tools}}
    for name, words in (("brief", {}), ("evaluate", {"description": "baseline"}),
                        ("profile", {"description": "where it goes"}), ("history", {}),
                        ("history", {"where": "nosuch > 1"}), ("show", {"attempt": "1"}),
                        ("evaluate", {})):
        result = await client.call_tool(name, words)
        seen.setdefault("calls", []).append([name, bool(result.is_error), text_of(result)])
    return seen


async def main():
    server = mcp.StdioServerParameters(command=ASSAY, args=["mcp"], cwd=CASE, env=dict(os.environ))
    seen = {}
    async with mcp.Client(server) as client:  # Which first asks for what newer servers know.
        seen["high"] = sorted(tool.name for tool in (await client.list_tools()).tools)
    async with mcp.stdio_client(server) as (reader, writer):
        async with mcp.ClientSession(reader, writer) as session:
            first = await session.initialize()
            seen["server"] = first.server_info.name
            seen["low"] = await talk(session)
    print(json.dumps(seen))


asyncio.run(main())
