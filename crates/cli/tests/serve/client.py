"""A session with `tessera mcp` by the public client of the protocol (`pip install mcp`)."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

PROGRAM = "%d = pto.tadd %a, %b : (!pto.tile<1x8xf32>, !pto.tile<1x8xf32>) -> !pto.tile<1x8xf32>"


async def main(command: str) -> None:
    async with stdio_client(StdioServerParameters(command=command, args=["mcp"])) as (read, write):
        async with ClientSession(read, write) as session:
            about = await session.initialize()
            server = getattr(about, "serverInfo", None) or about.server_info
            assert server.name == "tessera", about
            tools = {tool.name for tool in (await session.list_tools()).tools}
            assert {"check", "run", "expect", "races", "plan", "build", "explain", "reduce"} <= tools, tools

            async def call(name: str, arguments: dict) -> tuple[bool, dict]:
                answer = await session.call_tool(name, arguments)
                failed = getattr(answer, "isError", None)
                failed = answer.is_error if failed is None else failed
                return failed, json.loads(answer.content[0].text)

            failed, found = await call("check", {"program": PROGRAM, "profile": "a5"})
            assert not failed and found["ok"], found
            arguments = {"program": PROGRAM, "inputs": {"a": [[1, 2, 3, 4, 5, 6, 7, 8]], "b": "ones"}}
            failed, found = await call("run", arguments)
            assert not failed and found["outputs"]["d"]["data"] == [2, 3, 4, 5, 6, 7, 8, 9], found
            failed, found = await call("run", {"program": PROGRAM, "nonsense": 1})
            assert failed and found["error"]["code"] == "arguments", found
            # Many at once.
            answers = await asyncio.gather(*[call("check", {"program": PROGRAM}) for _ in range(200)])
            assert all(found["ok"] for _, found in answers)
    print("the client and the server understand each other")


asyncio.run(main(sys.argv[1]))
