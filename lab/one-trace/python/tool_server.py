"""An MCP server with one tool, for the trace test: the official Python SDK over streamable HTTP.

Run the program with `opentelemetry-instrument`. Prints its URL as one JSON line once it listens, and exits when its
standard input closes.
"""

import asyncio
import json
import socket
import sys

import uvicorn
from mcp.server import MCPServer

server = MCPServer("tools")


@server.tool()
def double(number: int) -> int:
    """Doubles a number."""
    return 2 * number


async def main() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    app = server.streamable_http_app()
    http = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    serving = asyncio.create_task(http.serve(sockets=[listening]))
    print(json.dumps({"url": f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"}), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    http.should_exit = True
    await serving


asyncio.run(main())
