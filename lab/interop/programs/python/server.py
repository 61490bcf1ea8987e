"""The test agent with the official Python SDK, in every binding and version that the SDK supports.

Prints its URL as one JSON line once it listens, and exits when its standard input closes. With `--json-rpc`, the
card has only the JSON-RPC interfaces. With `--token TOKEN`, the server requires a bearer token. With
`--default-webhooks`, the SDK validates the addresses of webhooks.
"""

import asyncio
import base64
import json
import socket
import sys

import grpc
import httpx
import uvicorn
from a2a.compat.v0_3 import a2a_v0_3_pb2_grpc
from a2a.compat.v0_3.grpc_handler import CompatGrpcHandler
from a2a.helpers.proto_helpers import new_data_part, new_raw_part, new_task_from_user_message, new_text_part
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
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    HTTPAuthSecurityScheme,
    SecurityRequirement,
    SecurityScheme,
    StringList,
)
from bearer_token import REQUIRED_TOKEN, create_grpc_interceptors, require_bearer_token
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware


class Obedient(AgentExecutor):
    """Handles `count`, which streams "one two three", `ask`, which asks, and `wait`, which works until canceled.

    `count slowly` counts with pauses.

    `sign in` requires authentication, and `fail` fails after a part of the answer. `files` returns a file and data, and
    `receive` lists the received parts.
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
        if text == "wait":
            await asyncio.Event().wait()
        elif text == "ask" and before is None:
            await updater.requires_input(updater.new_agent_message([new_text_part("Which color?")]))
        elif text == "sign in":
            await updater.requires_auth(updater.new_agent_message([new_text_part("Sign in first.")]))
        elif text == "fail":
            await updater.add_artifact([new_text_part("Partly. ")], artifact_id="answer")
            await updater.failed(updater.new_agent_message([new_text_part("no credit")]))
        elif text.startswith("files"):
            file = new_raw_part(base64.b64decode("iVBORw0KGgo="), media_type="image/png", filename="dot.png")
            await updater.add_artifact([new_text_part("Here it is: "), file, new_data_part({"width": 1})])
            await updater.complete()
        elif text.startswith("receive"):
            parts = [describe_part(part) for part in context.message.parts]
            await updater.add_artifact([new_text_part(f"Received: {' '.join(parts)}")])
            await updater.complete()
        else:
            words = [f"got {text}"] if before is not None else ["one ", "two ", "three"]
            for index, word in enumerate(words):
                if text == "count slowly":
                    await asyncio.sleep(0.15)
                await updater.add_artifact([new_text_part(word)], artifact_id="answer", append=index > 0)
            await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def describe_part(part) -> str:
    return base64.b64encode(part.raw).decode() if part.HasField("raw") else str(part.WhichOneof("content"))


def card_for(url: str, grpc_address: str) -> AgentCard:
    places = [("JSONRPC", f"{url}/"), ("HTTP+JSON", f"{url}/rest"), ("GRPC", grpc_address)]
    security = {}
    if REQUIRED_TOKEN:
        scheme = SecurityScheme(http_auth_security_scheme=HTTPAuthSecurityScheme(scheme="bearer"))
        requirement = SecurityRequirement(schemes={"token": StringList()})
        security = {"security_schemes": {"token": scheme}, "security_requirements": [requirement]}
    return AgentCard(
        **security,
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
    rpc = grpc.aio.server(interceptors=create_grpc_interceptors())
    grpc_address = f"127.0.0.1:{rpc.add_insecure_port('127.0.0.1:0')}"
    card = card_for(url, grpc_address)
    configs = InMemoryPushNotificationConfigStore()

    async def anywhere(_: str) -> bool:
        return True

    validator = {} if "--default-webhooks" in sys.argv else {"push_url_validator": anywhere}

    handler = DefaultRequestHandler(
        agent_executor=Obedient(),
        task_store=InMemoryTaskStore(),
        agent_card=card,
        push_config_store=configs,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), configs),
        **validator,
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
    if "--cors-origin" in sys.argv:
        page = sys.argv[sys.argv.index("--cors-origin") + 1]
        app.add_middleware(CORSMiddleware, allow_origins=[page], allow_methods=["*"], allow_headers=["*"])
    server = uvicorn.Server(uvicorn.Config(require_bearer_token(app), log_level="error"))
    serving = asyncio.create_task(server.serve([listening]))
    print(json.dumps({"url": url}), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await rpc.stop(0)
    server.should_exit = server.force_exit = True
    await serving


asyncio.run(main())
