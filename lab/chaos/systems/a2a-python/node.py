"""A replica of the cluster of the official Python SDK, with an agent that emits numbered chunks.

Arguments: the URL of the database, and the port (0 for a free port). Prints its reports as JSON lines like
`colloquy-node.ts`, and ends with its standard input.
"""

import asyncio
import json
import os
import socket
import sys
import threading
import time

import uvicorn
from a2a.helpers.proto_helpers import new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.cluster import DatabaseTaskEventStream, VersionedDatabaseTaskStore
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import TaskUpdater
from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from sqlalchemy.ext.asyncio import create_async_engine
from starlette.applications import Starlette


def read_monotonic_ms() -> float:
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) / 1e6


def print_report(**report) -> None:
    print(json.dumps(report), flush=True)


class ScriptedAgent(AgentExecutor):
    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        script = json.loads(context.get_user_input())
        task_id = context.task_id

        def report(kind: str) -> None:
            print_report(kind=kind, taskId=task_id, attempt=1, at=read_monotonic_ms())

        report("started")
        if context.current_task is None:
            task = new_task_from_user_message(context.message)
            task.id, task.context_id = task_id, context.context_id
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task_id, context.context_id)
        try:
            for number in range(script["chunks"]):
                text = f"1:{number}:{read_monotonic_ms():.3f} "
                await updater.add_artifact([new_text_part(text)], artifact_id="chunks", append=number > 0)
                await asyncio.sleep(script["intervalMs"] / 1000)
            await updater.complete()
        except BaseException:
            report("aborted")
            raise
        finally:
            report("ended")

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


async def main() -> None:
    database, port = sys.argv[1], int(sys.argv[2])
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    listening = socket.create_server(("127.0.0.1", port))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    engine = create_async_engine(database.replace("postgres://", "postgresql+asyncpg://"), pool_size=20)
    store = VersionedDatabaseTaskStore(engine)
    stream = DatabaseTaskEventStream(engine)
    await store.initialize()
    await stream.initialize()
    card = AgentCard(
        name="Scripted",
        description="Emits numbered chunks",
        version="1",
        supported_interfaces=[AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="emit", name="Emit", description="Emits chunks", tags=["test"])],
    )
    handler = DefaultRequestHandler(
        agent_executor=ScriptedAgent(), task_store=store, agent_card=card, event_stream=stream
    )
    app = Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")])
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical"))
    serving = asyncio.create_task(server.serve([listening]))
    print_report(kind="ready", url=url)
    await serving


asyncio.run(main())
