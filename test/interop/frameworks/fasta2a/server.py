"""Serves an agent of Pydantic AI that answers "one two three"."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parent.parent))

from fasta2a.pydantic_ai import agent_to_a2a
from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel
from serve_app import serve_app

agent = Agent(TestModel(custom_output_text="one two three"), name="counter")
serve_app(lambda url, _: agent_to_a2a(agent, name="counter", url=url))
