"""Serves an agent of Pydantic AI. A model server with OpenAI's API calls its tool, and answers "one two three".

The model server rejects `fail`, and counts the files of `receive`. `again` returns "again" in a context with an earlier answer.
"""

import json
import pathlib
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.path.append(str(pathlib.Path(__file__).parent.parent))

from fasta2a.pydantic_ai import agent_to_a2a
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from serve_app import serve_app


def list_files(message: dict) -> list:
    content = message.get("content")
    return [part for part in content if part["type"] != "text"] if isinstance(content, list) else []


class ModelServer(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        messages = request["messages"]
        if any(message.get("content") == "fail" for message in messages):
            self.send_error(402)
            return
        results = [message for message in messages if message["role"] == "tool"]
        files = [part for message in messages for part in list_files(message)]
        text = None
        if any(message.get("content") == "again" for message in messages):
            text = "again" if results else "The context is new."
        elif any(message.get("content") == "receive" for message in messages):
            text = f"received {len(files)} files"
        elif results:
            text = f"one two {results[-1]['content']}"
        message = {"role": "assistant", "content": text}
        if text is None:
            function = {"name": "find_last_word", "arguments": "{}"}
            message["tool_calls"] = [{"id": "call-1", "type": "function", "function": function}]
        choice = {"index": 0, "finish_reason": "stop" if text else "tool_calls"}
        completion = {"id": "c", "created": 1, "model": "fake"}
        if request.get("stream"):
            chunk = {**completion, "object": "chat.completion.chunk", "choices": [{**choice, "delta": message}]}
            for calls in message.get("tool_calls", []):
                calls["index"] = 0
            self.reply("text/event-stream", f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n")
        else:
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            answer = {**completion, "object": "chat.completion", "usage": usage}
            self.reply("application/json", json.dumps({**answer, "choices": [{**choice, "message": message}]}))

    def reply(self, media_type: str, text: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("content-type", media_type)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        pass


models = ThreadingHTTPServer(("127.0.0.1", 0), ModelServer)
threading.Thread(target=models.serve_forever, daemon=True).start()
provider = OpenAIProvider(base_url=f"http://127.0.0.1:{models.server_port}/v1", api_key="none")
agent = Agent(OpenAIChatModel("fake", provider=provider), name="counter")


@agent.tool_plain
def find_last_word() -> str:
    return "three"


serve_app(lambda url, _: agent_to_a2a(agent, name="counter", url=url))
