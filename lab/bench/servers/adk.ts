import { createServer, type ServerResponse } from "node:http";
import {
  BaseLlm,
  type BaseLlmConnection,
  type Event,
  InMemorySessionService,
  LlmAgent,
  type LlmRequest,
  type LlmResponse,
  LogLevel,
  Runner,
  setLogLevel,
  StreamingMode,
  toA2a,
} from "@google/adk";
import { generateJobChunks, SCRIPTED_MODEL_REPLY_JOB, SCRIPTED_MODEL_REPLY_TEXT } from "../benchmark-job.ts";
import type { WireTaskOrUpdate } from "../load/responses.ts";
import type { StartedSystem } from "../system-process-main.ts";
import { listenOnFreePort, readRequestText } from "./baseline.ts";

/** A model that always returns the same text and supports streaming. */
class ScriptedModel extends BaseLlm {
  async *generateContentAsync(_request: LlmRequest, stream = false): AsyncGenerator<LlmResponse, void> {
    if (stream) {
      for await (const { text } of generateJobChunks(SCRIPTED_MODEL_REPLY_JOB))
        yield { content: { role: "model", parts: [{ text }] }, partial: true };
    }
    yield { content: { role: "model", parts: [{ text: SCRIPTED_MODEL_REPLY_TEXT }] }, turnComplete: true };
  }

  override async connect(): Promise<BaseLlmConnection> {
    throw new Error("the scripted model does not support live connections");
  }
}

/** Creates the ADK agent of all ADK rows. */
export function createScriptedAdkAgent(): LlmAgent {
  return new LlmAgent({
    name: "scripted",
    description: "Answers with fifty chunks.",
    instruction: "Say your text.",
    model: new ScriptedModel({ model: "scripted" }),
  });
}

/** Starts ADK's own A2A server (A2A 0.3, Express, tasks and sessions in memory). */
export async function startAdkToA2aServer(): Promise<StartedSystem> {
  setLogLevel(LogLevel.ERROR);
  const url = await listenOnFreePort(await toA2a(createScriptedAdkAgent(), { allowUnauthenticated: true }));
  return { url: `${url}/jsonrpc` };
}

interface JsonRpcMessageRequest {
  readonly params: { readonly message: { readonly parts: readonly { readonly text: string }[] } };
}

/**
 * Starts the baseline of the ADK rows: `node:http` and ADK's `Runner`, with one in-memory session per task.
 * The server answers `/SendMessage/…` with one JSON document and without partial events. The server answers
 * `/SendStreamingMessage/…` with one write of SSE for each ADK event. The server has no task store, no
 * validation, no cancellation, and no other operation.
 */
export async function startAdkFloorServer(): Promise<StartedSystem> {
  setLogLevel(LogLevel.ERROR);
  const appName = "bench";
  const sessionService = new InMemorySessionService();
  const runner = new Runner({ agent: createScriptedAdkAgent(), appName, sessionService });
  const userId = "bench";
  let taskCount = 0;

  async function runTask(body: string, isStreamed: boolean, response: ServerResponse): Promise<void> {
    const { message } = (JSON.parse(body) as JsonRpcMessageRequest).params;
    const taskId = String(++taskCount);
    const sessionId = taskId;
    await sessionService.createSession({ appName, userId, sessionId });
    const events = runner.runAsync({
      userId,
      sessionId,
      newMessage: { role: "user", parts: message.parts.map(({ text }) => ({ text })) },
      runConfig: { streamingMode: isStreamed ? StreamingMode.SSE : StreamingMode.NONE },
    });
    await (isStreamed ? writeTaskEventStreamResponse : writeCompletedTaskResponse)(response, taskId, events);
  }

  const server = createServer((request, response) => {
    readRequestText(request, (body) => {
      void runTask(body, request.url?.startsWith("/SendStreamingMessage/") ?? false, response);
    });
  });
  return { url: await listenOnFreePort(server) };
}

const COMPLETED_TASK_STATUS = { state: "TASK_STATE_COMPLETED" };

async function writeCompletedTaskResponse(
  response: ServerResponse,
  taskId: string,
  events: AsyncIterable<Event>,
): Promise<void> {
  let text = "";
  for await (const event of events) text = getEventText(event);
  const artifacts = [{ artifactId: taskId, parts: [{ text }] }];
  const json = encodeResultAsJsonRpcResponse({
    task: { id: taskId, status: COMPLETED_TASK_STATUS, artifacts },
  });
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(json) });
  response.end(json);
}

async function writeTaskEventStreamResponse(
  response: ServerResponse,
  taskId: string,
  events: AsyncIterable<Event>,
): Promise<void> {
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-cache" });
  const write = (result: WireTaskOrUpdate): boolean =>
    response.write(`data: ${encodeResultAsJsonRpcResponse(result)}\n\n`);
  write({ task: { id: taskId, status: { state: "TASK_STATE_WORKING" } } });
  for await (const event of events) {
    const artifact = { artifactId: taskId, parts: [{ text: getEventText(event) }] };
    write({ artifactUpdate: { artifact, append: event.partial ?? false } });
  }
  write({ statusUpdate: { taskId, status: COMPLETED_TASK_STATUS } });
  response.end();
}

function getEventText({ content }: Event): string {
  return content?.parts?.map(({ text = "" }) => text).join("") ?? "";
}

function encodeResultAsJsonRpcResponse(result: WireTaskOrUpdate): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, result });
}
