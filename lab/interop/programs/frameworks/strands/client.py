"""Calls our server with A2AAgent of Strands: client.py URL SECURED_URL TOKEN."""

import asyncio
import logging
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parent.parent))
logging.disable(logging.CRITICAL)

import httpx
from a2a.client import ClientConfig
from report_outcomes import assert_equal, report_outcomes
from strands.agent.a2a_agent import A2AAgent

url, secured_url, token = sys.argv[1:4]


def get_text(result) -> str:
    return "".join(block.get("text", "") for block in result.message["content"])


async def ask(prompt) -> str:
    return get_text(await A2AAgent(endpoint=url).invoke_async(prompt))


async def send() -> None:
    assert_equal(await ask("count"), "one two three")


async def stream() -> None:
    texts = {}
    async for event in A2AAgent(endpoint=url).stream_async("count"):
        update = event.get("event")
        if isinstance(update, tuple):
            for artifact in update[0].artifacts or []:
                texts[artifact.artifact_id] = "".join(part.root.text for part in artifact.parts)
    assert_equal("".join(texts.values()), "one two three")


async def question() -> None:
    result = await A2AAgent(endpoint=url).invoke_async("ask")
    assert_equal((result.stop_reason, get_text(result)), ("interrupt", "Which color?"))


async def sign_in() -> None:
    assert_equal(await ask("sign in"), "Sign in first.")


async def failure() -> None:
    result = await A2AAgent(endpoint=url).invoke_async("fail")
    assert_equal("no credit" in get_text(result), True)


async def auth_headers() -> None:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(headers=headers, timeout=15) as http:
        remote = A2AAgent(endpoint=secured_url, client_config=ClientConfig(httpx_client=http))
        assert_equal(get_text(await remote.invoke_async("count")), "one two three")


asyncio.run(
    report_outcomes(
        {
            "send": send,
            "stream": stream,
            "question": question,
            "sign-in": sign_in,
            "failure": failure,
            "auth headers": auth_headers,
        }
    )
)
