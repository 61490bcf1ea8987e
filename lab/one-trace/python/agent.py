"""The agent in the middle of the trace test: the official Python SDK, which calls the agent at the URL in argv[1].

Run the program with `opentelemetry-instrument`, the automatic instrumentation of OpenTelemetry: the program itself knows
nothing of traces. Prints its URL as one JSON line once it listens, and exits when its standard input closes.
"""

import asyncio
import json
import socket
import sys
import uuid

import httpx
import uvicorn
from a2a.client import ClientConfig, create_client
from a2a.helpers.proto_helpers import new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Message,
    Role,
    SendMessageRequest,
)
from starlette.applications import Starlette

NEXT_AGENT = sys.argv[1]


async def ask_next_agent(text: str) -> str:
    async with httpx.AsyncClient() as http:
        client = await create_client(NEXT_AGENT, ClientConfig(streaming=False, httpx_client=http))
        message = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[new_text_part(text)])
        async for response in client.send_message(SendMessageRequest(message=message)):
            return response.task.artifacts[0].parts[0].text
    return "no answer"


class Relay(AgentExecutor):
    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        task = new_task_from_user_message(context.message)
        task.id, task.context_id = context.task_id, context.context_id
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work()
        answer = await ask_next_agent(context.get_user_input())
        await updater.add_artifact([new_text_part(f"Python: {answer}")])
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


async def main() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    card = AgentCard(
        name="Python",
        description="Asks the next agent",
        version="1",
        supported_interfaces=[
            AgentInterface(url=f"{url}/", protocol_binding="JSONRPC", protocol_version="1.0")
        ],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="relay", name="Relay", description="Asks", tags=["test"])],
    )
    handler = DefaultRequestHandler(agent_executor=Relay(), task_store=InMemoryTaskStore(), agent_card=card)
    app = Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")])
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    print(json.dumps({"url": url}), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.should_exit = True
    await serving


asyncio.run(main())
