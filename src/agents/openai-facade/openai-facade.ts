import { defineOptionNames } from "../../base/usage-checks/index.ts";
import type { Observer } from "../../engine/index.ts";
import { resolveObserver } from "../../observe/logging/index.ts";
import { A2AError } from "../../protocol/index.ts";
import type { CallerAgentAccess, MountedHandler } from "../../server/index.ts";
import {
  encodeSseFrame,
  EVENT_STREAM_HEADERS,
  getHttpAndGrpcErrorStatus,
  SSE_HEARTBEAT,
} from "../../wire/index.ts";
import {
  type AgentDirectory,
  type CallerWithAgents,
  createServerAgentDirectory,
  createStaticAgentDirectory,
} from "./agent-directory.ts";
import { AnswerAccumulator, UnsuccessfulTaskError } from "./answer-accumulator.ts";
import { decodeChatRequest } from "./chat-request.ts";
import { CompletionEncoder } from "./completion-encoder.ts";
import { ConversationIndex } from "./conversation-index.ts";
import { sendChatAndStreamAnswerText } from "./send-chat-and-stream-answer-text.ts";

/** Options for `createOpenAiFacade`. */
export interface OpenAiFacadeOptions {
  /**
   * Authenticates a request, and returns the caller with the agents that the caller may use. The façade
   * rejects a request with 401 if `agents` returns `undefined`. By default, the façade accepts the callers of
   * its A2A server and offers the agents of that server.
   */
  readonly agents?: (
    request: Request,
  ) => CallerWithAgents | undefined | Promise<CallerWithAgents | undefined>;
  /**
   * Receives errors that are not the client's fault. The default observer writes errors to stderr, and the
   * value `false` disables the default observer.
   */
  readonly observer?: Pick<Observer, "onError"> | false;
  /** Maximum size of a request body in bytes. Default: 10 MiB. */
  readonly maxBodyBytes?: number;
  /** Maximum number of JSON values and member names in a request. Default: 50,000. */
  readonly maxJsonValues?: number;
  /** Time in milliseconds before an idle SSE stream sends a comment. Default: 15,000. */
  readonly heartbeatMs?: number;
}

const assertKnownOptions = defineOptionNames<OpenAiFacadeOptions>()(
  "createOpenAiFacade",
  "agents heartbeatMs maxBodyBytes maxJsonValues observer",
);

/** A façade that serves agents as models of OpenAI's API. */
export interface OpenAiFacade extends MountedHandler {
  /**
   * Handles a chat request without an A2A server, in hosts that use `Request` and `Response`. The handler
   * accepts any path prefix before `/v1/`. Requires the `agents` option.
   */
  readonly fetch: (request: Request) => Promise<Response>;
}

const OPENAI_FACADE_PATH_PATTERN = /\/v1\/(?:(chat\/completions)|models(?:\/([^/]+))?)$/;
const DEFAULT_MAX_BODY_BYTES = 10 * 2 ** 20;
const DEFAULT_HEARTBEAT_MS = 15_000;

/**
 * Creates a façade for chat clients that use OpenAI's API. The endpoint `/v1/models` lists the agents, and
 * `/v1/chat/completions` sends a message to an agent. A façade on an A2A server accepts only callers that the
 * server accepts.
 */
export function createOpenAiFacade(options: OpenAiFacadeOptions = {}): OpenAiFacade {
  assertKnownOptions(options);
  const {
    maxBodyBytes = DEFAULT_MAX_BODY_BYTES,
    heartbeatMs = DEFAULT_HEARTBEAT_MS,
    maxJsonValues,
  } = options;
  const conversations = new ConversationIndex();
  const observer = resolveObserver(options.observer);

  /** Converts a thrown error to an error for the client, and reports unexpected errors to the observer. */
  const toReportableError = (error: unknown, signal: AbortSignal): A2AError | UnsuccessfulTaskError => {
    if (error instanceof A2AError || error instanceof UnsuccessfulTaskError) return error;
    if (!signal.aborted) observer.onError?.({ where: "openai facade", error });
    return A2AError.from(error);
  };

  async function openDirectory(
    request: Request,
    authenticate?: () => Promise<CallerAgentAccess>,
  ): Promise<AgentDirectory> {
    const callerContext = await authenticate?.();
    if (options.agents) {
      const callerAgents = await options.agents(request);
      if (callerAgents) return createStaticAgentDirectory(callerAgents);
      throw new A2AError("UNAUTHENTICATED", "The request is not authenticated; send a valid API key.");
    }
    if (callerContext) return createServerAgentDirectory(callerContext);
    throw new Error(
      "createOpenAiFacade has no agents. Set the `agents` option, or mount the façade on a server.",
    );
  }

  async function respond(
    request: Request,
    authenticate?: () => Promise<CallerAgentAccess>,
  ): Promise<Response> {
    try {
      const [, chat, model] = OPENAI_FACADE_PATH_PATTERN.exec(new URL(request.url).pathname) ?? [];
      const agents = await openDirectory(request, authenticate);
      const expectedMethod = chat === undefined ? "GET" : "POST";
      if (request.method !== expectedMethod)
        throw new A2AError(
          "METHOD_NOT_ALLOWED",
          `This path requires ${expectedMethod}, not ${request.method}.`,
        );
      if (chat !== undefined) return await respondToChat(request, agents);
      return await createModelsResponse(agents, model);
    } catch (error) {
      return createErrorResponse(toReportableError(error, request.signal));
    }
  }

  async function respondToChat(request: Request, agents: AgentDirectory): Promise<Response> {
    const chatRequest = decodeChatRequest(await readRequestBodyText(request, maxBodyBytes), maxJsonValues);
    const client = await agents.openClient(chatRequest.model);
    if (!client) throw createModelNotFoundError(chatRequest.model);
    const disconnect = new AbortController();
    const signal = AbortSignal.any([request.signal, disconnect.signal]);
    const messageId = request.headers.get("idempotency-key")?.slice(0, 200);
    const accumulator = new AnswerAccumulator();
    const { caller } = agents;
    const pieces = sendChatAndStreamAnswerText(
      { client, caller, request: chatRequest, conversations, messageId, signal },
      accumulator,
    );
    // An error before the first text is returned as an HTTP status, so the response waits for the first text.
    const first = await pieces.next();
    const completion = new CompletionEncoder(
      chatRequest,
      accumulator.taskId ?? crypto.randomUUID(),
      Date.now(),
    );
    if (chatRequest.stream) {
      const body = createSseStream(
        encodeSseFrames(completion, accumulator, first, pieces, (error) => toReportableError(error, signal)),
        disconnect,
        heartbeatMs,
      );
      return new Response(body, { headers: EVENT_STREAM_HEADERS });
    }
    for (let piece = first; !piece.done; piece = await pieces.next());
    return Response.json(completion.encodeCompletion(accumulator));
  }

  return {
    matchesPath: (path) => OPENAI_FACADE_PATH_PATTERN.exec(path)?.index === 0,
    handle: respond,
    fetch: (request) => {
      if (OPENAI_FACADE_PATH_PATTERN.test(new URL(request.url).pathname)) return respond(request);
      const text = "Unknown path. Use /v1/models or /v1/chat/completions.";
      return Promise.resolve(createA2AErrorResponse(new A2AError("NOT_FOUND", text)));
    },
  };
}

async function createModelsResponse(
  agents: AgentDirectory,
  encodedName: string | undefined,
): Promise<Response> {
  const names = await agents.listNames();
  if (encodedName === undefined)
    return Response.json({ object: "list", data: names.map(toOpenAiModelObject) });
  const name = names.find((name) => encodeURIComponent(name) === encodedName);
  if (name === undefined) throw createModelNotFoundError(encodedName);
  return Response.json(toOpenAiModelObject(name));
}

function toOpenAiModelObject(id: string): object {
  return { id, object: "model", created: 0, owned_by: "a2a" };
}

function createModelNotFoundError(name: string): A2AError {
  const text = `Unknown agent ${JSON.stringify(name.slice(0, 80))}. GET /v1/models lists the available agents.`;
  return new A2AError("NOT_FOUND", text);
}

async function* encodeSseFrames(
  completion: CompletionEncoder,
  answer: AnswerAccumulator,
  first: IteratorResult<string, void>,
  rest: AsyncGenerator<string, void>,
  toReportableError: (error: unknown) => A2AError | UnsuccessfulTaskError,
): AsyncGenerator<string, void, undefined> {
  try {
    yield encodeJsonSseFrame(completion.encodeFirstChunk(answer));
    for (let piece = first; !piece.done; piece = await rest.next())
      if (piece.value !== "") yield encodeJsonSseFrame(completion.encodeTextChunk(piece.value));
    yield completion.encodeFinalChunks(answer).map(encodeJsonSseFrame).join("") + encodeSseFrame("[DONE]");
  } catch (error) {
    yield encodeJsonSseFrame({ error: toErrorBody(toReportableError(error)) });
  } finally {
    await rest.return();
  }
}

const encodeJsonSseFrame = (json: object): string => encodeSseFrame(JSON.stringify(json));

/**
 * Creates a stream that produces the next frame only after the client has read earlier frames. Canceling the
 * stream aborts the chat request.
 */
function createSseStream(
  frames: AsyncGenerator<string, void>,
  disconnect: AbortController,
  heartbeatMs: number,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let heartbeat: NodeJS.Timeout | undefined;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      heartbeat = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(SSE_HEARTBEAT));
      }, heartbeatMs);
    },
    async pull(controller) {
      const { done, value } = await frames.next();
      if (done) {
        clearInterval(heartbeat);
        controller.close();
      } else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      clearInterval(heartbeat);
      disconnect.abort();
      await frames.return();
    },
  });
}

/**
 * The HTTP status of failed tasks. Clients do not retry this status, because a retry would repeat the work.
 */
const UNSUCCESSFUL_TASK_HTTP_STATUS = 422;

function createErrorResponse(error: A2AError | UnsuccessfulTaskError): Response {
  if (error instanceof A2AError) return createA2AErrorResponse(error);
  const headers = { "x-should-retry": "false" };
  return Response.json({ error: toErrorBody(error) }, { status: UNSUCCESSFUL_TASK_HTTP_STATUS, headers });
}

function toErrorBody(error: A2AError | UnsuccessfulTaskError): ChatError {
  if (error instanceof A2AError) return toChatError(error);
  return { message: error.message, type: "server_error", param: null, code: error.code };
}

/** An error in the format of OpenAI's API. */
interface ChatError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string;
}

/** OpenAI's error type for each HTTP status; 4xx statuses without an entry are request errors. */
const ERROR_TYPES_BY_HTTP_STATUS: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  429: "rate_limit_error",
};

const toChatErrorCodeFromA2AReason = (reason: string): string =>
  reason === "UNAUTHENTICATED" ? "invalid_api_key" : reason.toLowerCase();

/** Converts an A2A error into an OpenAI error. */
function toChatError({ reason, message, violations }: A2AError): ChatError {
  const { http } = getHttpAndGrpcErrorStatus(reason, "1.0.1");
  const type = ERROR_TYPES_BY_HTTP_STATUS[http] ?? (http >= 500 ? "server_error" : "invalid_request_error");
  return { message, type, param: violations[0]?.field ?? null, code: toChatErrorCodeFromA2AReason(reason) };
}

/**
 * Creates an error response. OpenAI clients by default retry requests that fail with status 409, 429, or 5xx.
 * The header `x-should-retry` prevents a retry unless the request had no effect.
 */
function createA2AErrorResponse(error: A2AError): Response {
  const { http } = getHttpAndGrpcErrorStatus(error.reason, "1.0.1");
  const headers = new Headers({ "content-type": "application/json" });
  headers.set("x-should-retry", `${http === 429 || http === 503}`);
  if (http === 401) headers.set("www-authenticate", "Bearer");
  if (error.retryAfter !== undefined) headers.set("retry-after", `${Math.ceil(error.retryAfter)}`);
  return new Response(JSON.stringify({ error: toChatError(error) }), { status: http, headers });
}

/** Reads the body of a request as text, and rejects if the body exceeds the limit. */
async function readRequestBodyText(request: Request, maxBytes: number): Promise<string> {
  // Browsers send this content type to other origins only after a preflight request, so a foreign page cannot
  // send a request without permission.
  if (!/^application\/json\b/i.test(request.headers.get("content-type") ?? ""))
    throw new A2AError("CONTENT_TYPE_NOT_SUPPORTED", `Send "Content-Type: application/json".`);
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw createBodyTooLargeError(maxBytes);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let size = 0;
  try {
    for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > maxBytes) break;
      text += decoder.decode(chunk, { stream: true });
    }
    if (size <= maxBytes) return text + decoder.decode();
  } catch (cause) {
    // The server refuses bodies that exceed the caller's share.
    if (cause instanceof A2AError) throw cause;
    throw new A2AError("PARSE_ERROR", "The body could not be read as UTF-8.", { cause });
  }
  throw createBodyTooLargeError(maxBytes);
}

function createBodyTooLargeError(maxBytes: number): A2AError {
  const limit = maxBytes.toLocaleString("en");
  return new A2AError("PAYLOAD_TOO_LARGE", `The body is larger than ${limit} bytes. Send files by URL.`);
}
