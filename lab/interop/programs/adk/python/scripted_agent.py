"""The agent of scripted-agent.json."""

import asyncio
import base64
import json
import pathlib
from typing import AsyncGenerator

from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.tools import FunctionTool, LongRunningFunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

SCRIPT = json.loads((pathlib.Path(__file__).parent.parent / "scripted-agent.json").read_text())


def get_reply_key(request: LlmRequest) -> str:
    """Returns the name and status of the last tool result, or the text of the last content."""
    parts = request.contents[-1].parts or []
    results = [part.function_response for part in parts if part.function_response]
    if not results:
        return "".join(part.text or "" for part in parts)
    status = (results[-1].response or {}).get("status")
    return f"{results[-1].name} {status}" if isinstance(status, str) else str(results[-1].name)


def list_user_texts(request: LlmRequest) -> list[str]:
    users = [content for content in request.contents if content.role == "user"]
    texts = [part.text for content in users for part in content.parts or [] if part.text]
    return [("You said: " if index == 0 else " | ") + text for index, text in enumerate(texts)]


class ScriptedModel(BaseLlm):
    async def generate_content_async(
        self, request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        key = get_reply_key(request)
        parts: list[types.Part] = []
        for step in SCRIPT["replies"].get(key, [{"text": [f"The script has no reply to {key}."]}]):
            if "error" in step:
                yield LlmResponse(error_code=step["code"], error_message=step["error"])
                return
            if "call" in step:
                parts.append(types.Part.from_function_call(name=step["call"], args=step["args"]))
            elif "file" in step:
                file = step["file"]
                blob = types.Blob(
                    data=base64.b64decode(file["data"]),
                    mime_type=file["mimeType"],
                    display_name=file["displayName"],
                )
                parts.append(types.Part(inline_data=blob))
            else:
                chunks = step["text"] if "text" in step else list_user_texts(request)
                for chunk in chunks:
                    if stream:
                        content = types.Content(role="model", parts=[types.Part(text=chunk)])
                        yield LlmResponse(content=content, partial=True)
                        await asyncio.sleep(step.get("pauseMs", 0) / 1000)
                parts.append(types.Part(text="".join(chunks)))
        yield LlmResponse(content=types.Content(role="model", parts=parts))


async def look_up(city: str) -> dict:
    """look_up"""
    return SCRIPT["tools"]["look_up"]["result"]


async def request_approval(sum: int) -> dict:
    """request_approval"""
    return SCRIPT["tools"]["request_approval"]["result"]


async def quit(tool_context: ToolContext) -> dict:
    """quit"""
    tool_context.actions.escalate = True
    return SCRIPT["tools"]["quit"]["result"]


async def save_report(tool_context: ToolContext) -> dict:
    """save_report"""
    tool = SCRIPT["tools"]["save_report"]
    saved = tool["saves"]
    blob = types.Blob(data=base64.b64decode(saved["data"]), mime_type=saved["mimeType"])
    await tool_context.save_artifact(saved["name"], types.Part(inline_data=blob))
    return tool["result"]


async def set_mood(tool_context: ToolContext) -> dict:
    """set_mood"""
    tool = SCRIPT["tools"]["set_mood"]
    tool_context.state.update(tool["sets"])
    return tool["result"]


def create_scripted_agent() -> LlmAgent:
    return LlmAgent(
        name=SCRIPT["name"],
        description=SCRIPT["description"],
        model=ScriptedModel(model="scripted"),
        tools=[
            FunctionTool(look_up),
            LongRunningFunctionTool(request_approval),
            FunctionTool(quit),
            FunctionTool(save_report),
            FunctionTool(set_mood),
        ],
    )
