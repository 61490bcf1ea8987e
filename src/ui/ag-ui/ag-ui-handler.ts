import type { A2AClient } from "../../client/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { defineOptionNames } from "../../base/usage-checks/index.ts";
import { EVENT_STREAM_HEADERS, parseBoundedJson, SSE_HEARTBEAT } from "../../wire/index.ts";
import { createLazyClient } from "../create-lazy-client.ts";
import { cancelTasksOfContext, type ChatClient } from "../turn-stream.ts";
import { decodeRunAgentInput, type RunAgentInput } from "./run-agent-input.ts";
import { type AgUiCursor, type AgUiEventBatch, runAgUiTurn } from "./run-ag-ui-turn.ts";

/** An A2A agent: its URL, a client, or a function that returns the client for the user of a request. */
export type AgUiTarget = string | A2AClient | ((request: Request) => A2AClient | Promise<A2AClient>);

/** A function that responds to the requests of AG-UI clients. */
export type AgUiHandler = (request: Request) => Promise<Response>;

/** Options for `createAgUiHandler`. */
export interface AgUiHandlerOptions {
  /** Time in milliseconds between heartbeats on a stream. Default: 15,000. */
  readonly heartbeatMs?: number;
  /** Maximum size of a request in bytes. Larger requests receive status 413. Default: 16 MiB. */
  readonly maxRequestBytes?: number;
}

const assertKnownOptions = defineOptionNames<AgUiHandlerOptions>()(
  "createAgUiHandler",
  "heartbeatMs maxRequestBytes",
);

const DEFAULT_HEARTBEAT_MS = 15_000;
const DEFAULT_MAX_REQUEST_BYTES = 16 * 2 ** 20;
/** Maximum number of tasks that a stop request cancels. */
const MAX_TASKS_TO_STOP = 20;

/** What the endpoint supports, in the format of AG-UI's `AgentCapabilities`. */
const CAPABILITIES = {
  transport: { streaming: true, resumable: true },
  humanInTheLoop: { supported: true, approvals: true, interrupts: true },
};

/**
 * Creates a fetch handler that offers an A2A agent to AG-UI clients, such as `HttpAgent` and CopilotKit.
 *
 * - `POST` runs the agent. The thread is an A2A context. A request without a new message continues the latest task, and
 *   the client receives exactly the content that its messages do not contain.
 * - `DELETE ?threadId=…` stops the agent. A closed connection does not.
 * - `GET` returns the capabilities.
 *
 * Anyone who can call the handler acts as the client that you pass. For several users, pass a function that authenticates
 * the request and returns the client of its user.
 */
export function createAgUiHandler(target: AgUiTarget, options: AgUiHandlerOptions = {}): AgUiHandler {
  assertKnownOptions(options);
  const { heartbeatMs = DEFAULT_HEARTBEAT_MS, maxRequestBytes = DEFAULT_MAX_REQUEST_BYTES } = options;
  const findClient = typeof target === "function" ? target : createLazyClient(target);
  return async (request) => {
    try {
      if (request.method === "GET") return Response.json(CAPABILITIES);
      if (request.method === "DELETE") return await stopThread(await findClient(request), request);
      if (request.method !== "POST")
        return new Response(null, { status: 405, headers: { allow: "GET, POST, DELETE" } });
      // Another web page cannot send this media type without the permission of this origin.
      if (!/^application\/json\b/i.test(request.headers.get("content-type") ?? ""))
        return createErrorResponse(415, "The content type of the request must be application/json.");
      const body = await readBody(request, maxRequestBytes);
      if (body === undefined)
        return createErrorResponse(413, `The request exceeds ${maxRequestBytes} bytes.`);
      const input = decodeRunAgentInput(parseBoundedJson(body));
      const cursor = findCursor(request, input);
      const client = await findClient(request);
      const stop = new AbortController();
      const batches = runAgUiTurn(client, input, cursor, { signal: stop.signal });
      return new Response(
        createEventStream(batches, () => stop.abort(), heartbeatMs),
        { headers: EVENT_STREAM_HEADERS },
      );
    } catch (error) {
      if (error instanceof SyntaxError) return createErrorResponse(400, "The request is not JSON.");
      if (!(error instanceof A2AError)) throw error;
      return createErrorResponse(HTTP_STATUS_BY_REASON[error.reason] ?? 502, error.message);
    }
  };
}

/** HTTP status of errors in a request. Other errors are errors of the agent. */
const HTTP_STATUS_BY_REASON: Readonly<Partial<Record<A2AError["reason"], number>>> = {
  INVALID_PARAMS: 400,
  PAYLOAD_TOO_LARGE: 413,
};

async function stopThread(client: ChatClient, request: Request): Promise<Response> {
  const threadId = new URL(request.url).searchParams.get("threadId");
  if (!threadId) return createErrorResponse(400, "Pass the thread as ?threadId=….");
  return Response.json({ stopped: await cancelTasksOfContext(client, threadId, MAX_TASKS_TO_STOP) });
}

/** Reads the cursor in the header `Last-Event-ID`, or in `forwardedProps.cursor`. */
function findCursor(request: Request, { forwardedProps }: RunAgentInput): AgUiCursor | undefined {
  const text = request.headers.get("last-event-id") ?? forwardedProps["cursor"];
  if (text === undefined) return undefined;
  const match = typeof text === "string" ? /^([^:]{1,256}):(\d{1,15})$/.exec(text) : null;
  const [, taskId, eventId] = match ?? [];
  if (taskId === undefined || eventId === undefined)
    throw new A2AError("INVALID_PARAMS", "The cursor is not the id of an event of this endpoint.");
  return { taskId, eventId };
}

function createEventStream(
  batches: AsyncGenerator<AgUiEventBatch, void, undefined>,
  disconnect: () => void,
  heartbeatMs: number,
): ReadableStream<Uint8Array> {
  const text = new TextEncoder();
  let heartbeat: ReturnType<typeof setInterval> | undefined;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      heartbeat = setInterval(() => {
        // A reader that takes no bytes needs no heartbeat.
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(text.encode(SSE_HEARTBEAT));
      }, heartbeatMs);
    },
    async pull(controller) {
      for (;;) {
        const frames = await readNextFrames(batches);
        if (frames !== undefined && frames !== "") controller.enqueue(text.encode(frames));
        if (frames === undefined) {
          clearInterval(heartbeat);
          controller.close();
        }
        if (frames !== "") return;
      }
    },
    async cancel() {
      clearInterval(heartbeat);
      disconnect();
      await batches.return();
    },
  });
}

/** Encodes the next batch. An error becomes the last event. Returns `undefined` at the end. */
async function readNextFrames(
  batches: AsyncGenerator<AgUiEventBatch, void, undefined>,
): Promise<string | undefined> {
  try {
    const { done, value } = await batches.next();
    return done ? undefined : encodeFrames(value);
  } catch (error) {
    const message = error instanceof A2AError ? error.message : "The agent could not be reached.";
    return encodeFrames({ events: [{ type: "RUN_ERROR", message }] });
  }
}

/** Encodes a batch. The last event has the cursor as its id, because a reader with the id has the whole batch. */
function encodeFrames({ events, cursor }: AgUiEventBatch): string {
  const last = events.length - 1;
  return events
    .map((event, index) => {
      const id = cursor && index === last ? `id: ${cursor.taskId}:${cursor.eventId}\n` : "";
      return `${id}data: ${JSON.stringify(event)}\n\n`;
    })
    .join("");
}

/** Reads the body as text, or returns `undefined` if the body is too large. */
async function readBody({ body }: Request, maxBytes: number): Promise<string | undefined> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let size = 0; ;) {
    const { done = true, value } = (await reader?.read()) ?? {};
    if (done || value === undefined) return text + decoder.decode();
    size += value.length;
    if (size > maxBytes) {
      await reader?.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

function createErrorResponse(status: number, message: string): Response {
  return Response.json({ error: message }, { status });
}
