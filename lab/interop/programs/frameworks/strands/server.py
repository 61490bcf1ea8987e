"""Serves an agent of Strands that streams "one two three".

`ask` asks with an interrupt of a tool, `fail` fails, and `receive` counts the received files. `again` returns
"again" in a context with an earlier answer.
"""

import asyncio
import logging
import pathlib
import sys
import warnings

sys.path.append(str(pathlib.Path(__file__).parent.parent))
logging.disable(logging.CRITICAL)
warnings.filterwarnings("ignore")

from serve_app import serve_app
from strands import Agent, ToolContext, tool
from strands.models import Model
from strands.multiagent.a2a import A2AServer


class CountingModel(Model):
    def update_config(self, **config) -> None:
        pass

    def get_config(self) -> dict:
        return {}

    async def structured_output(self, *args, **options):
        raise NotImplementedError
        yield

    async def stream(self, messages, *args, **options):
        text = messages[-1]["content"][0].get("text", "").strip()
        results = [block["toolResult"] for block in messages[-1]["content"] if "toolResult" in block]
        if text == "fail":
            raise ValueError("no credit")
        yield {"messageStart": {"role": "assistant"}}
        if text == "ask":
            start = {"toolUse": {"toolUseId": "ask-1", "name": "ask_color"}}
            yield {"contentBlockStart": {"start": start}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": "{}"}}}}
        else:
            yield {"contentBlockStart": {"start": {}}}
            words = ["one ", "two ", "three"]
            if results:
                words = [results[0]["content"][0]["text"]]
            elif text == "receive":
                words = [f"received {len(messages[-1]['content']) - 1} files"]
            elif text == "again":
                words = ["again" if len(messages) > 1 else "The context is new."]
            for word in words:
                yield {"contentBlockDelta": {"delta": {"text": word}}}
                await asyncio.sleep(0.15)
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if text == "ask" else "end_turn"}}


@tool(context=True)
def ask_color(tool_context: ToolContext) -> str:
    """Asks for a color."""
    return f"got {tool_context.interrupt('color', reason='Which color?')}"


def create_agent(_: str) -> Agent:
    tools = [ask_color]
    return Agent(name="counter", description="Counts.", model=CountingModel(), tools=tools, callback_handler=None)


serve_app(lambda url, _: A2AServer(agent_factory=create_agent, http_url=url).to_starlette_app())
