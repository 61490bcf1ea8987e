"""Runs the scenarios with the official Python SDK's client against a test agent:
`client.py <url> <binding> <version> <secured url> <token>`.

Prints one JSON line per scenario: its name, its result, and the error.
"""

import asyncio
import json
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable

import grpc
import httpx
from google.protobuf import json_format, struct_pb2
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.client.auth import AuthInterceptor, CredentialService
from a2a.types.a2a_pb2 import (
    AgentCard,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskPushNotificationConfig,
    TaskState,
)

HOOK = "http://127.0.0.1:9/hook"


def request(text: str, **about: str) -> SendMessageRequest:
    message = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[Part(text=text)], **about)
    return SendMessageRequest(message=message)


def data_part(value: dict) -> Part:
    return Part(data=json_format.ParseDict(value, struct_pb2.Value()))


class Token(CredentialService):
    def __init__(self, token: str) -> None:
        self.token = token

    async def get_credentials(self, security_scheme_name: str, context: object) -> str:
        return self.token


class Webhook:
    """Receives push notifications over plain HTTP/1.1."""

    async def open(self) -> str:
        self.received: asyncio.Queue[tuple[str, dict]] = asyncio.Queue()
        self.server = await asyncio.start_server(self.receive, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}/hook"

    async def receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
        body = await reader.readexactly(int(headers["content-length"]))
        await self.received.put((headers.get("x-a2a-notification-token", ""), json.loads(body)))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        await writer.drain()
        writer.close()


def answer(task: Task) -> str:
    return "".join(part.text for artifact in task.artifacts for part in artifact.parts)


async def task_of(events: AsyncIterator[StreamResponse]) -> Task:
    """Returns the task in a response, or the task that the events of a stream describe."""
    task = Task()
    async for event in events:
        if event.HasField("task"):
            task = event.task
        elif event.HasField("status_update"):
            task.status.CopyFrom(event.status_update.status)
        elif event.HasField("artifact_update"):
            apply_artifact_update(task, event.artifact_update)
    return task


def apply_artifact_update(task: Task, update: TaskArtifactUpdateEvent) -> None:
    """Adds the chunk to its artifact, or replaces the artifact if the chunk is not appended."""
    known = next((one for one in task.artifacts if one.artifact_id == update.artifact.artifact_id), None)
    if known is None:
        task.artifacts.append(update.artifact)
    elif update.append:
        known.parts.extend(update.artifact.parts)
    else:
        known.CopyFrom(update.artifact)


def same(got: object, wanted: object) -> None:
    assert got == wanted, f"{got!r} instead of {wanted!r}"


async def refused(work: Awaitable[object], kind: str) -> None:
    """Fails unless the work raises the expected error, identified by its class name, its gRPC status, or its message."""
    try:
        await work
    except Exception as error:  # noqa: BLE001
        told = f"{type(error).__name__}: {error}"
        assert kind in told, f"{told} instead of {kind}"
        return
    raise AssertionError(f"went well instead of {kind}")


class Scenarios:
    def __init__(
        self, once: Client, streaming: Client, secured: Callable[..., Awaitable[Client]], binding: str, version: str
    ) -> None:
        self.once, self.streaming, self.secured, self.version = once, streaming, secured, version
        # The SDK's client does not support listing here.
        self.lists = (binding, version) != ("HTTP+JSON", "0.3")
        # In the proto of A2A 0.3.0, files have no name.
        self.has_names = version == "1.0" or binding == "JSONRPC"

    async def send(self) -> None:
        task = await task_of(self.once.send_message(request("count")))
        same(TaskState.Name(task.status.state), "TASK_STATE_COMPLETED")
        same(answer(task), "one two three")

    async def stream(self) -> None:
        task = await task_of(self.streaming.send_message(request("count")))
        same(TaskState.Name(task.status.state), "TASK_STATE_COMPLETED")
        same(answer(task), "one two three")

    async def follow_up(self) -> None:
        asked = await task_of(self.streaming.send_message(request("ask")))
        same(TaskState.Name(asked.status.state), "TASK_STATE_INPUT_REQUIRED")
        about = {"task_id": asked.id, "context_id": asked.context_id}
        done = await task_of(self.once.send_message(request("blue", **about)))
        same((done.id, answer(done)), (asked.id, "got blue"))

    async def follow_up_stream(self) -> None:
        asked = await task_of(self.streaming.send_message(request("ask")))
        reply = request("blue", task_id=asked.id, context_id=asked.context_id)
        events = [event async for event in self.streaming.send_message(reply)]
        first = events[0]
        status = first.task.status if first.HasField("task") else first.status_update.status
        same((TaskState.Name(status.state), len(first.task.artifacts)), ("TASK_STATE_WORKING", 0))

        async def replay() -> AsyncIterator[StreamResponse]:
            for event in events:
                yield event

        done = await task_of(replay())
        same((TaskState.Name(done.status.state), answer(done)), ("TASK_STATE_COMPLETED", "got blue"))

    async def sign_in(self) -> None:
        task = await task_of(self.once.send_message(request("sign in")))
        same(TaskState.Name(task.status.state), "TASK_STATE_AUTH_REQUIRED")
        same([part.text for part in task.status.message.parts], ["Sign in first."])

    async def files(self) -> None:
        task = await task_of(self.streaming.send_message(request("files")))
        parts = [part for artifact in task.artifacts for part in artifact.parts]
        files = [(part.filename, part.media_type, part.raw) for part in parts if part.HasField("raw")]
        same(files, [("dot.png" if self.has_names else "", "image/png", b"\x89PNG\r\n\x1a\n")])
        same([json_format.MessageToDict(part.data) for part in parts if part.HasField("data")], [{"width": 1.0}])
        sent = request("receive")
        sent.message.parts.extend([Part(raw=b"\x80\x81\xff", filename="a.bin", media_type="image/png"), data_part({"a": 1})])
        same(answer(await task_of(self.once.send_message(sent))), "Received: text gIH/ data")

    async def auth_headers(self) -> None:
        wrong = await self.secured("no-token-of-the-server")
        await refused(task_of(wrong.send_message(request("count"))), "Error")
        secured = await self.secured()
        same(answer(await task_of(secured.send_message(request("count")))), "one two three")

    async def push_delivery(self) -> None:
        hook = Webhook()
        url = await hook.open()
        task = await task_of(self.once.send_message(request("ask")))
        given = TaskPushNotificationConfig(task_id=task.id, id="mine", url=url, token="secret")
        await self.once.create_task_push_notification_config(given)
        await task_of(self.once.send_message(request("blue", task_id=task.id, context_id=task.context_id)))
        while True:
            token, event = await hook.received.get()
            same(token, "secret")
            if "COMPLETED" in json.dumps(event).upper():
                break
        hook.server.close()

    async def get(self) -> None:
        task = await task_of(self.once.send_message(request("count")))
        same((await self.once.get_task(GetTaskRequest(id=task.id))).id, task.id)
        short = await self.once.get_task(GetTaskRequest(id=task.id, history_length=1))
        same(len(short.history), 1)

    async def list(self) -> None:
        task = await task_of(self.once.send_message(request("count")))
        page = await self.once.list_tasks(ListTasksRequest(context_id=task.context_id, page_size=5))
        same([one.id for one in page.tasks], [task.id])
        default = await self.once.list_tasks(ListTasksRequest(context_id=task.context_id))
        same([one.id for one in default.tasks], [task.id])

    async def cancel_and_subscribe(self) -> None:
        events = self.streaming.send_message(request("wait"))
        task_id = ""
        async for event in events:
            task_id = event.task.id if event.HasField("task") else task_id
            if event.status_update.status.state == TaskState.TASK_STATE_WORKING:
                break
        await events.aclose()
        subscription = self.streaming.subscribe(SubscribeToTaskRequest(id=task_id))
        first = await anext(subscription)
        state = first.task.status.state if first.HasField("task") else first.status_update.status.state
        same(TaskState.Name(state), "TASK_STATE_WORKING")
        cancelled = await self.once.cancel_task(CancelTaskRequest(id=task_id))
        same(TaskState.Name(cancelled.status.state), "TASK_STATE_CANCELED")
        rest = [event async for event in subscription]
        same(TaskState.Name(rest[-1].status_update.status.state), "TASK_STATE_CANCELED")

    async def push_configuration(self) -> None:
        task = await task_of(self.once.send_message(request("ask")))
        given = TaskPushNotificationConfig(task_id=task.id, id="mine", url=HOOK, token="secret")
        same((await self.once.create_task_push_notification_config(given)).url, HOOK)
        asked = GetTaskPushNotificationConfigRequest(task_id=task.id, id="mine")
        same((await self.once.get_task_push_notification_config(asked)).url, HOOK)
        if self.lists:
            every = ListTaskPushNotificationConfigsRequest(task_id=task.id)
            listed = await self.once.list_task_push_notification_configs(every)
            same([one.id for one in listed.configs], ["mine"])
        gone = DeleteTaskPushNotificationConfigRequest(task_id=task.id, id="mine")
        await self.once.delete_task_push_notification_config(gone)
        await refused(self.once.get_task_push_notification_config(asked), "Error")

    async def errors(self) -> None:
        task = await task_of(self.once.send_message(request("count")))
        await refused(self.once.get_task(GetTaskRequest(id="unknown")), "TaskNotFoundError")
        await refused(self.once.cancel_task(CancelTaskRequest(id="unknown")), "TaskNotFoundError")
        await refused(self.once.cancel_task(CancelTaskRequest(id=task.id)), "TaskNotCancelableError")
        more = request("more", task_id=task.id)
        kind = "UnsupportedOperationError" if self.version == "1.0" else "Error"
        await refused(task_of(self.streaming.send_message(more)), kind)


async def main(url: str, binding: str, version: str, secured_url: str, token: str) -> None:
    async with httpx.AsyncClient(timeout=20) as http:
        card: AgentCard = await A2ACardResolver(http, url).get_agent_card()

        def select_interfaces(card: AgentCard) -> None:
            wanted = [
                way
                for way in card.supported_interfaces
                if way.protocol_binding == binding and way.protocol_version.startswith(version)
            ]
            del card.supported_interfaces[:]
            card.supported_interfaces.extend(wanted)

        async def report(name: str, work: Callable[[], Awaitable[None]]) -> None:
            try:
                await asyncio.wait_for(work(), 20)
                print(json.dumps({"scenario": name, "ok": True}), flush=True)
            except Exception as error:  # noqa: BLE001
                detail = f"{type(error).__name__}: {error}"
                print(json.dumps({"scenario": name, "ok": False, "detail": detail}), flush=True)

        async def offered() -> None:
            ways = [(way.protocol_binding, way.protocol_version) for way in card.supported_interfaces]
            assert any(b == binding and v.startswith(version) for b, v in ways), f"the card offers {ways}"

        await report("card", offered)
        select_interfaces(card)

        def client(streaming: bool, card: AgentCard = card, interceptors: list | None = None) -> Client:
            config = ClientConfig(
                streaming=streaming,
                supported_protocol_bindings=[binding],
                httpx_client=http,
                grpc_channel_factory=grpc.aio.insecure_channel,
            )
            return ClientFactory(config).create(card, interceptors)

        async def secured(credential: str = token) -> Client:
            secured_card = await A2ACardResolver(http, secured_url).get_agent_card()
            select_interfaces(secured_card)
            return client(False, secured_card, [AuthInterceptor(Token(credential))])

        scenarios = Scenarios(client(False), client(True), secured, binding, version)
        await report("send", scenarios.send)
        await report("stream", scenarios.stream)
        await report("follow-up", scenarios.follow_up)
        await report("follow-up stream", scenarios.follow_up_stream)
        await report("sign-in", scenarios.sign_in)
        await report("files", scenarios.files)
        await report("auth headers", scenarios.auth_headers)
        await report("get", scenarios.get)
        if version == "1.0":
            await report("list", scenarios.list)
        await report("cancel, subscribe", scenarios.cancel_and_subscribe)
        await report("push configuration", scenarios.push_configuration)
        await report("push delivery", scenarios.push_delivery)
        await report("errors", scenarios.errors)


asyncio.run(main(*sys.argv[1:]))
