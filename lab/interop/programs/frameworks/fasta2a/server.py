"""Serves an agent of Pydantic AI that streams "one two three".

`fail` fails, and `receive` counts the received files. `again` returns "again" in a context with an earlier answer.
"""

import asyncio
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parent.parent))

from fasta2a.pydantic_ai import agent_to_a2a
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, UserPromptPart
from pydantic_ai.models.function import FunctionModel
from serve_app import serve_app


async def answer(messages, _):
    prompts = [part.content for part in messages[-1].parts if isinstance(part, UserPromptPart)]
    if prompts[0] == "fail":
        raise ValueError("no credit")
    if prompts[0] == "receive":
        yield f"received {len(prompts) - 1} files"
    elif prompts[0] == "again":
        yield "again" if any(isinstance(message, ModelResponse) for message in messages) else "The context is new."
    else:
        for word in ["one ", "two ", "three"]:
            yield word
            await asyncio.sleep(0.15)


agent = Agent(FunctionModel(stream_function=answer), name="counter")
serve_app(lambda url, _: agent_to_a2a(agent, name="counter", url=url))
