"""Serves an agent of Strands that streams "one two three"."""

import asyncio
import logging
import pathlib
import sys
import warnings

sys.path.append(str(pathlib.Path(__file__).parent.parent))
logging.disable(logging.CRITICAL)
warnings.filterwarnings("ignore")

from serve_app import serve_app
from strands import Agent
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

    async def stream(self, *args, **options):
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        for word in ["one ", "two ", "three"]:
            yield {"contentBlockDelta": {"delta": {"text": word}}}
            await asyncio.sleep(0.15)
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


def create_agent(_: str) -> Agent:
    return Agent(name="counter", description="Counts.", model=CountingModel(), callback_handler=None)


serve_app(lambda url, _: A2AServer(agent_factory=create_agent, http_url=url).to_starlette_app())
