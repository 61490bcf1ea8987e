"""Runs the scenarios with the last Python SDK that supports only 0.3 against a test agent:
`client_0_3.py <url> <binding> 0.3`.

Prints one JSON line per scenario: its name, its result, and the error.
"""

import asyncio
import base64
import json
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable

import grpc
import httpx
from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.types import (
    FilePart,
    FileWithBytes,
    GetTaskPushNotificationConfigParams,
    Message,
    Part,
    PushNotificationConfig,
    Role,
    Task,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TaskState,
    TextPart,
)

HOOK = "http://127.0.0.1:9/hook"


def message(text: str, **about: str) -> Message:
    part = Part(root=TextPart(text=text))
    return Message(message_id=str(uuid.uuid4()), role=Role.user, parts=[part], **about)


def answer(task: Task) -> str:
    parts = [part.root for artifact in task.artifacts or [] for part in artifact.parts]
    return "".join(part.text for part in parts if isinstance(part, TextPart))


async def task_of(events: AsyncIterator) -> Task:
    """Returns the task in a response, or the task that the SDK assembles from a stream."""
    task = None
    async for event in events:
        task = event[0]
    assert task is not None, "nothing came"
    return task


def same(got: object, wanted: object) -> None:
    assert got == wanted, f"{got!r} instead of {wanted!r}"


async def refused(work: Awaitable[object], *kinds: str) -> None:
    """Fails unless the work raises an error whose message contains one of these texts."""
    try:
        await work
    except Exception as error:  # noqa: BLE001
        told = f"{type(error).__name__}: {error}"
        assert any(kind in told for kind in kinds), f"{told} instead of {kinds}"
        return
    raise AssertionError(f"went well instead of {kinds}")


class Scenarios:
    def __init__(self, once: Client, streaming: Client) -> None:
        self.once, self.streaming = once, streaming

    async def send(self) -> None:
        task = await task_of(self.once.send_message(message("count")))
        same((task.status.state, answer(task)), (TaskState.completed, "one two three"))

    async def stream(self) -> None:
        task = await task_of(self.streaming.send_message(message("count")))
        same((task.status.state, answer(task)), (TaskState.completed, "one two three"))

    async def follow_up(self) -> None:
        asked = await task_of(self.streaming.send_message(message("ask")))
        same(asked.status.state, TaskState.input_required)
        reply = message("blue", task_id=asked.id, context_id=asked.context_id)
        done = await task_of(self.once.send_message(reply))
        same((done.id, answer(done)), (asked.id, "got blue"))

    async def files(self) -> None:
        task = await task_of(self.streaming.send_message(message("files")))
        parts = [part.root for artifact in task.artifacts or [] for part in artifact.parts]
        files = [base64.b64decode(part.file.bytes, validate=True) for part in parts if isinstance(part, FilePart)]
        same(files, [b"\x89PNG\r\n\x1a\n"])
        sent = message("receive")
        content = base64.b64encode(b"\x80\x81\xff").decode()
        sent.parts.append(Part(root=FilePart(file=FileWithBytes(bytes=content, mime_type="image/png"))))
        same(answer(await task_of(self.once.send_message(sent))), "Received: text gIH/")

    async def get(self) -> None:
        task = await task_of(self.once.send_message(message("count")))
        got = await self.once.get_task(TaskQueryParams(id=task.id, history_length=1))
        same((got.id, len(got.history or [])), (task.id, 1))

    async def cancel_and_subscribe(self) -> None:
        task_id = ""
        events = self.streaming.send_message(message("wait"))
        async for task, _ in events:
            task_id = task.id
            if task.status.state == TaskState.working:
                break
        await events.aclose()
        subscription = self.streaming.resubscribe(TaskIdParams(id=task_id))
        first, _ = await anext(subscription)
        same(first.status.state, TaskState.working)
        same((await self.once.cancel_task(TaskIdParams(id=task_id))).status.state, TaskState.canceled)
        last = [task async for task, _ in subscription][-1]
        same(last.status.state, TaskState.canceled)

    async def push_configuration(self) -> None:
        task = await task_of(self.once.send_message(message("ask")))
        config = PushNotificationConfig(id="mine", url=HOOK, token="secret")
        given = TaskPushNotificationConfig(task_id=task.id, push_notification_config=config)
        same((await self.once.set_task_callback(given)).push_notification_config.url, HOOK)
        asked = GetTaskPushNotificationConfigParams(id=task.id, push_notification_config_id="mine")
        same((await self.once.get_task_callback(asked)).push_notification_config.url, HOOK)

    async def errors(self) -> None:
        task = await task_of(self.once.send_message(message("count")))
        lost = ("not found", "-32001", "NOT_FOUND", "404")
        await refused(self.once.get_task(TaskQueryParams(id="unknown")), *lost)
        await refused(self.once.cancel_task(TaskIdParams(id="unknown")), *lost)
        await refused(self.once.cancel_task(TaskIdParams(id=task.id)), "cancel", "-32002", "409", "400")
        await refused(task_of(self.streaming.send_message(message("more", task_id=task.id))), "Error")


async def main(url: str, binding: str, *_: str) -> None:
    async with httpx.AsyncClient(timeout=20) as http:

        async def report(name: str, work: Callable[[], Awaitable[None]]) -> None:
            try:
                await asyncio.wait_for(work(), 20)
                print(json.dumps({"scenario": name, "ok": True}), flush=True)
            except Exception as error:  # noqa: BLE001
                detail = f"{type(error).__name__}: {error}"
                print(json.dumps({"scenario": name, "ok": False, "detail": detail}), flush=True)

        clients: list[Client] = []

        async def connect() -> None:
            card = await A2ACardResolver(http, url).get_agent_card()
            for streaming in (False, True):
                config = ClientConfig(
                    streaming=streaming,
                    supported_transports=[binding],
                    httpx_client=http,
                    grpc_channel_factory=grpc.aio.insecure_channel,
                )
                clients.append(ClientFactory(config).create(card))

        await report("card", connect)
        if len(clients) < 2:
            return
        scenarios = Scenarios(*clients)
        await report("send", scenarios.send)
        await report("stream", scenarios.stream)
        await report("follow-up", scenarios.follow_up)
        await report("files", scenarios.files)
        await report("get", scenarios.get)
        await report("cancel, subscribe", scenarios.cancel_and_subscribe)
        await report("push configuration", scenarios.push_configuration)
        await report("errors", scenarios.errors)


asyncio.run(main(*sys.argv[1:]))
