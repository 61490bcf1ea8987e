"""Serves an ASGI app on a free port, prints its URL, and exits when stdin closes.

With `--token TOKEN`, the app requires a bearer token.
"""

import asyncio
import json
import os
import pathlib
import socket
import sys
import threading
from typing import Callable

import uvicorn

sys.path.append(str(pathlib.Path(__file__).parent.parent / "python"))

from bearer_token import require_bearer_token


def serve_app(create_app: Callable[[str, int], object]) -> None:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    server = uvicorn.Server(uvicorn.Config(require_bearer_token(create_app(url, port)), log_level="critical"))

    def exit_with_stdin() -> None:
        sys.stdin.read()
        os._exit(0)

    async def start() -> None:
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:
            await asyncio.sleep(0.02)
        print(json.dumps({"url": url}), flush=True)
        await serving

    threading.Thread(target=exit_with_stdin, daemon=True).start()
    asyncio.run(start())
