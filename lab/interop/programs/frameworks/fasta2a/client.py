"""Calls our server with the client of FastA2A (Pydantic AI): client.py URL SECURED_URL TOKEN."""

import asyncio
import pathlib
import sys
import uuid

sys.path.append(str(pathlib.Path(__file__).parent.parent))

import httpx
from fasta2a.client import A2AClient
from report_outcomes import assert_equal, report_outcomes

url, secured_url, token = sys.argv[1:4]


def create_message(text: str) -> dict:
    return {"role": "user", "parts": [{"text": text}], "message_id": str(uuid.uuid4())}


def get_text(response) -> str:
    task = response["result"]["task"]
    return "".join(part["text"] for artifact in task["artifacts"] for part in artifact["parts"])


async def send() -> None:
    assert_equal(get_text(await A2AClient(url).send_message(create_message("count"))), "one two three")


async def stream() -> None:
    texts = []
    async for response in A2AClient(url).stream_message(create_message("count")):
        update = response["result"].get("artifact_update")
        texts += [part["text"] for part in update["artifact"]["parts"]] if update else []
    assert_equal("".join(texts), "one two three")


async def auth_headers() -> None:
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http:
        response = await A2AClient(secured_url, http).send_message(create_message("count"))
        assert_equal(get_text(response), "one two three")


asyncio.run(report_outcomes({"send": send, "stream": stream, "auth headers": auth_headers}))
