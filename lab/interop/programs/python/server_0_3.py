"""The test agent with the last official Python SDK that supports only 0.3. With `--token TOKEN`, it requires a bearer token."""

import asyncio
import base64
import json
import socket
import sys

import grpc
import httpx
import uvicorn
from a2a.grpc import a2a_pb2_grpc
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.apps import A2ARESTFastAPIApplication, A2AStarletteApplication
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
    TaskUpdater,
)
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    DataPart,
    FilePart,
    FileWithBytes,
    HTTPAuthSecurityScheme,
    Part,
    SecurityScheme,
    TextPart,
    TransportProtocol,
)
from a2a.utils import new_task
from bearer_token import REQUIRED_TOKEN, create_grpc_interceptors, require_bearer_token


class Obedient(AgentExecutor):
    """Handles `count`, which streams "one two three", `ask`, which asks, and `wait`, which works until canceled.

    `count slowly` counts with pauses.

    `sign in` requires authentication. `files` returns a file and data, and `receive` lists the received parts.
    """

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        text = context.get_user_input()
        before = context.current_task
        if before is None:
            await event_queue.enqueue_event(new_task(context.message))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work()
        if text == "wait":
            await asyncio.Event().wait()
        elif text == "ask" and before is None:
            await updater.requires_input(final=True)
        elif text == "sign in":
            request = updater.new_agent_message([Part(root=TextPart(text="Sign in first."))])
            await updater.requires_auth(request, final=True)
        elif text.startswith("files"):
            file = FileWithBytes(bytes="iVBORw0KGgo=", mime_type="image/png", name="dot.png")
            parts = [TextPart(text="Here it is: "), FilePart(file=file), DataPart(data={"width": 1})]
            await updater.add_artifact([Part(root=part) for part in parts])
            await updater.complete()
        elif text.startswith("receive"):
            parts = [describe_part(part.root) for part in context.message.parts]
            await updater.add_artifact([Part(root=TextPart(text=f"Received: {' '.join(parts)}"))])
            await updater.complete()
        else:
            words = [f"got {text}"] if before is not None else ["one ", "two ", "three"]
            for index, word in enumerate(words):
                if text == "count slowly":
                    await asyncio.sleep(0.15)
                part = Part(root=TextPart(text=word))
                await updater.add_artifact([part], artifact_id="answer", append=index > 0)
            await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def describe_part(part) -> str:
    return part.file.bytes if isinstance(part, FilePart) else part.kind


def card_for(url: str, grpc_address: str) -> AgentCard:
    security = {}
    if REQUIRED_TOKEN:
        scheme = SecurityScheme(root=HTTPAuthSecurityScheme(scheme="bearer"))
        security = {"security_schemes": {"token": scheme}, "security": [{"token": []}]}
    return AgentCard(
        **security,
        name="Obedient",
        description="Does as it is told.",
        version="1",
        url=f"{url}/",
        preferred_transport=TransportProtocol.jsonrpc,
        additional_interfaces=[
            AgentInterface(url=f"{url}/rest", transport=TransportProtocol.http_json),
            AgentInterface(url=grpc_address, transport=TransportProtocol.grpc),
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
    card = card_for(url, f"127.0.0.1:{rpc.add_insecure_port('127.0.0.1:0')}")
    configs = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandler(
        agent_executor=Obedient(),
        task_store=InMemoryTaskStore(),
        push_config_store=configs,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), configs),
    )
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(card, handler), rpc)
    await rpc.start()
    app = A2AStarletteApplication(agent_card=card, http_handler=handler).build()
    app.mount("/rest", A2ARESTFastAPIApplication(agent_card=card, http_handler=handler).build())
    server = uvicorn.Server(uvicorn.Config(require_bearer_token(app), log_level="error"))
    serving = asyncio.create_task(server.serve([listening]))
    print(json.dumps({"url": url}), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await rpc.stop(0)
    server.should_exit = server.force_exit = True
    await serving


asyncio.run(main())
