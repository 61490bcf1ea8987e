/**
 * Serves an agent of Mastra: `server.ts FOLDER [--token TOKEN]`. A model server with OpenAI's API answers "one
 * two three", rejects `fail`, and counts the files of `receive`. `again` returns "again" in a context with an
 * earlier answer.
 */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { loadInstalledPackage } from "../report-outcomes.ts";

interface ChatMessage {
  readonly role: string;
  readonly content: string | readonly { readonly type: string; readonly text?: string }[];
}

const [folder = "", , token] = process.argv.slice(2);

type AsyncRequestListener = (...parameters: Parameters<RequestListener>) => void | Promise<void>;

async function listen(listener: AsyncRequestListener): Promise<string> {
  const server = createServer((request, response) => void listener(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function selectWords(messages: readonly ChatMessage[]): readonly string[] | undefined {
  const { content = [] } = messages.findLast(({ role }) => role === "user") ?? {};
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const text = parts.find(({ type }) => type === "text")?.text;
  if (text === "fail") return undefined;
  if (text === "receive") return [`received ${parts.filter(({ type }) => type !== "text").length} files`];
  if (text === "again")
    return [messages.some(({ role }) => role === "assistant") ? "again" : "The context is new."];
  return ["one ", "two ", "three"];
}

const modelUrl = await listen(async (request, response) => {
  const { messages, stream } = (await new Response(ReadableStream.from(request)).json()) as {
    messages: readonly ChatMessage[];
    stream?: boolean;
  };
  const words = selectWords(messages);
  const base = { id: "c", created: 1, model: "fake" };
  if (!words) {
    response.writeHead(402, { "content-type": "application/json" }).end(`{"error":{"message":"no credit"}}`);
  } else if (stream) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (choice: object): boolean =>
      response.write(
        `data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices: [{ index: 0, ...choice }] })}\n\n`,
      );
    for (const content of words) {
      send({ delta: { role: "assistant", content } });
      await pause(150);
    }
    send({ delta: {}, finish_reason: "stop" });
    response.end("data: [DONE]\n\n");
  } else {
    const message = { role: "assistant", content: words.join("") };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...base, object: "chat.completion", choices, usage }));
  }
});

const { Agent } = loadInstalledPackage(folder, "@mastra/core/agent") as {
  Agent: new (options: object) => object;
};
const { Mastra } = loadInstalledPackage(folder, "@mastra/core") as {
  Mastra: new (options: object) => object;
};
const { MastraServer } = loadInstalledPackage(folder, "@mastra/hono") as {
  MastraServer: new (options: object) => { init(): Promise<void> };
};
const { Hono } = loadInstalledPackage(folder, "hono") as {
  Hono: new () => { fetch(request: Request): Promise<Response> };
};
const { getRequestListener } = loadInstalledPackage(folder, "@hono/node-server") as {
  getRequestListener: (handle: (request: Request) => Response | Promise<Response>) => RequestListener;
};

const { InMemoryTaskStore } = loadInstalledPackage(folder, "@mastra/server/a2a/store") as {
  InMemoryTaskStore: new () => object;
};

const model = { id: "openai-compatible/fake", url: `${modelUrl}/v1`, apiKey: "none" };
const counter = new Agent({ id: "counter", name: "counter", instructions: "Count.", model });
const app = new Hono();
const mastra = new Mastra({ agents: { counter }, logger: false });
await new MastraServer({ app, mastra, taskStore: new InMemoryTaskStore() }).init();
const url = await listen(
  getRequestListener((request) => {
    const isAllowed = !token || new URL(request.url).pathname.startsWith("/api/.well-known/");
    if (isAllowed || request.headers.get("authorization") === `Bearer ${token}`) return app.fetch(request);
    return new Response(undefined, { status: 401, headers: { "www-authenticate": "Bearer" } });
  }),
);
console.log(JSON.stringify({ url: `${url}/api/.well-known/counter/agent-card.json` }));
process.stdin.on("end", () => process.exit(0)).resume();
