"""The test agent with the official Python SDK, in every binding and version that the SDK supports.

Prints its URL as one JSON line once it listens, and exits when its standard input closes. With `--json-rpc`, the
card has only the JSON-RPC interfaces.
"""

import asyncio
import json
import socket
import sys

import grpc
import httpx
import uvicorn
from a2a.compat.v0_3 import a2a_v0_3_pb2_grpc
from a2a.compat.v0_3.grpc_handler import CompatGrpcHandler
from a2a.helpers.proto_helpers import new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import a2a_pb2_grpc
from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part
from starlette.applications import Starlette


class Obedient(AgentExecutor):
    """Handles `count`, which streams "one two three", `ask`, which asks, and `wait`, which works until canceled.

    `sign in` requires authentication, and `fail` fails after a part of the answer.
    """

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        text = context.get_user_input()
        before = context.current_task
        if before is None:
            task = new_task_from_user_message(context.message)
            task.id, task.context_id = context.task_id, context.context_id
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work()
        files = [part for part in context.message.parts if part.HasField("raw")]
        if files:
            parts = [Part(raw=files[0].raw, media_type=files[0].media_type), new_text_part(files[0].raw.hex())]
            await updater.add_artifact(parts, artifact_id="answer")
            await updater.complete()
        elif text == "wait":
            await asyncio.Event().wait()
        elif text == "ask" and before is None:
            await updater.requires_input(updater.new_agent_message([new_text_part("Which color?")]))
        elif text == "sign in":
            await updater.requires_auth(updater.new_agent_message([new_text_part("Sign in first.")]))
        elif text == "fail":
            await updater.add_artifact([new_text_part("Partly. ")], artifact_id="answer")
            await updater.failed(updater.new_agent_message([new_text_part("no credit")]))
        else:
            words = [f"got {text}"] if before is not None else ["one ", "two ", "three"]
            for index, word in enumerate(words):
                await updater.add_artifact([new_text_part(word)], artifact_id="answer", append=index > 0)
            await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def card_for(url: str, grpc_address: str) -> AgentCard:
    places = [("JSONRPC", f"{url}/"), ("HTTP+JSON", f"{url}/rest"), ("GRPC", grpc_address)]
    return AgentCard(
        name="Obedient",
        description="Does as it is told.",
        version="1",
        supported_interfaces=[
            AgentInterface(url=place, protocol_binding=binding, protocol_version=version)
            for version in ("1.0", "0.3")
            for binding, place in places
            # ADK for Python rejects a card with a gRPC interface, because its address is no HTTP URL.
            if binding == "JSONRPC" or "--json-rpc" not in sys.argv
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="obey", name="Obey", description="Obeys", tags=["test"])],
    )


async def main() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    rpc = grpc.aio.server()
    grpc_address = f"127.0.0.1:{rpc.add_insecure_port('127.0.0.1:0')}"
    card = card_for(url, grpc_address)
    configs = InMemoryPushNotificationConfigStore()

    async def anywhere(_: str) -> bool:
        return True

    handler = DefaultRequestHandler(
        agent_executor=Obedient(),
        task_store=InMemoryTaskStore(),
        agent_card=card,
        push_config_store=configs,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), configs),
        push_url_validator=anywhere,
    )
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(handler), rpc)
    a2a_v0_3_pb2_grpc.add_A2AServiceServicer_to_server(CompatGrpcHandler(handler), rpc)
    await rpc.start()
    app = Starlette(
        routes=[
            *create_agent_card_routes(card),
            *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True),
            *create_rest_routes(handler, path_prefix="/rest", enable_v0_3_compat=True),
        ]
    )
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    serving = asyncio.create_task(server.serve([listening]))
    print(json.dumps({"url": url}), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await rpc.stop(0)
    server.should_exit = server.force_exit = True
    await serving


asyncio.run(main())
