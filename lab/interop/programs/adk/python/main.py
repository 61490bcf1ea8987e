"""Peer program of ADK for Python.

    main.py server      serves the scripted agent with to_a2a
    main.py own-server  does the same in the new dialect, which Colloquy's server follows
    main.py run bare    runs scenarios with the scripted agent in a bare Runner
    main.py run URL     runs scenarios with RemoteA2aAgent

`run` reads one scenario per line from stdin and prints one session report per line.
"""

import asyncio
import base64
import json
import logging
import os
import sys
import threading
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

from google.adk.agents import LlmAgent, LoopAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from scripted_agent import create_scripted_agent

APP, USER, SESSION = "caller", "user", "session"


def print_line(value) -> None:
    print(json.dumps(value), flush=True)


async def read_line() -> str:
    return await asyncio.to_thread(sys.stdin.readline)


class Nag(BaseLlm):
    async def generate_content_async(self, request, stream=False):
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="Again.")]))


def create_message(turn: dict, events: list) -> types.Content:
    if "answer" not in turn:
        parts = [types.Part(text=turn["text"])]
        if file := turn.get("file"):
            blob = types.Blob(
                data=base64.b64decode(file["data"]),
                mime_type=file["mimeType"],
                display_name=file["displayName"],
            )
            parts.append(types.Part(inline_data=blob))
        return types.Content(role="user", parts=parts)
    long_running = {id for event in events for id in event.long_running_tool_ids or []}
    calls = [call for event in events for call in event.get_function_calls() if call.id in long_running]
    if not calls:
        text = turn.get("text", "There is no pending call.")
        return types.Content(role="user", parts=[types.Part(text=text)])
    result = types.FunctionResponse(id=calls[-1].id, name=calls[-1].name, response=turn["answer"])
    return types.Content(role="user", parts=[types.Part(function_response=result)])


async def run_scenario(scenario: dict, agent) -> dict:
    if scenario.get("isLoop"):
        nag = LlmAgent(name="nag", model=Nag(model="nag"))
        agent = LoopAgent(name="loop", sub_agents=[agent, nag], max_iterations=3)
    runner = InMemoryRunner(agent=agent, app_name=APP)
    await runner.session_service.create_session(
        app_name=APP, user_id=USER, session_id=SESSION, state={"color": "blue"}
    )

    async def get_session():
        return await runner.session_service.get_session(app_name=APP, user_id=USER, session_id=SESSION)

    mode = StreamingMode.NONE if scenario.get("isWhole") else StreamingMode.SSE
    for turn in scenario["turns"]:
        if "interruption" in turn:
            print_line({"interruption": True})
            await read_line()
            continue
        message = create_message(turn, (await get_session()).events)
        config = RunConfig(streaming_mode=mode)
        async for _ in runner.run_async(
            user_id=USER, session_id=SESSION, new_message=message, run_config=config
        ):
            pass
    session = await get_session()
    service = runner.artifact_service
    names = await service.list_artifact_keys(app_name=APP, user_id=USER, session_id=SESSION)
    artifacts = {}
    for name in names:
        part = await service.load_artifact(
            app_name=APP, user_id=USER, session_id=SESSION, filename=name
        )
        artifacts[name] = dump(part)
    return {"events": [dump(event) for event in session.events], "state": session.state, "artifacts": artifacts}


def dump(model) -> dict:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def create_remote_agent(url: str, is_whole: bool):
    import httpx
    from a2a.client import ClientConfig, ClientFactory
    from google.adk.agents.remote_a2a_agent import RemoteA2aAgent

    card = f"{url}/.well-known/agent-card.json"
    if not is_whole:
        return RemoteA2aAgent(name="far", agent_card=card)
    # Without a factory, RemoteA2aAgent always streams.
    client = httpx.AsyncClient(timeout=60)
    factory = ClientFactory(ClientConfig(streaming=False, httpx_client=client))
    return RemoteA2aAgent(name="far", agent_card=card, a2a_client_factory=factory)


async def run_scenarios(target: str) -> None:
    while line := await read_line():
        scenario = json.loads(line)
        try:
            if target == "bare":
                agent = create_scripted_agent()
            else:
                agent = create_remote_agent(target, scenario.get("isWhole", False))
            print_line(await run_scenario(scenario, agent))
        except Exception as error:  # The harness reports the error as the outcome.
            print_line({"error": f"{type(error).__name__}: {error}"})


def serve() -> None:
    import socket

    import uvicorn
    from google.adk.a2a.utils.agent_to_a2a import to_a2a

    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    from google.adk.a2a.executor.a2a_agent_executor import A2aAgentExecutor

    def create_executor(runner) -> A2aAgentExecutor:
        return A2aAgentExecutor(runner=runner, force_new_version=True)

    # RemoteA2aAgent requests this dialect with `use_legacy=False`, but a2a-sdk 1.x does not send its header.
    is_new = sys.argv[1] == "own-server"
    executor = {"agent_executor_factory": create_executor} if is_new else {}
    app = to_a2a(create_scripted_agent(), host="127.0.0.1", port=port, **executor)

    def exit_with_stdin() -> None:
        sys.stdin.read()
        os._exit(0)

    threading.Thread(target=exit_with_stdin, daemon=True).start()
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical"))

    async def start() -> None:
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:
            await asyncio.sleep(0.02)
        print_line({"url": f"http://127.0.0.1:{port}"})
        await serving

    asyncio.run(start())


if sys.argv[1] in ("server", "own-server"):
    serve()
else:
    asyncio.run(run_scenarios(sys.argv[2]))
