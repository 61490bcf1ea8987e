import type { Observer } from "../engine/index.ts";
import { A2AError } from "../protocol/index.ts";
import type { Beside, Inside } from "../server/index.ts";
import { encodeFrame, HEARTBEAT } from "../wire/index.ts";
import { Answer, TaskEnded } from "./answer.ts";
import { refuse, toChatError, type ChatError } from "./chat-error.ts";
import { decodeChatRequest } from "./chat-request.ts";
import { given, within, type Agents, type Company } from "./company.ts";
import { Completion } from "./completion.ts";
import { readText } from "./read-text.ts";
import { speak } from "./speak.ts";
import { Threads } from "./threads.ts";

export interface OpenaiFacadeOptions {
  /**
   * Who asks, by their request, and the agents that they get: for agents that are elsewhere. Undefined refuses the request
   * with 401. Default: the agents of the server that the façade is put beside, for whom that lets in.
   */
  readonly agents?: (request: Request) => Company | undefined | Promise<Company | undefined>;
  /** Told of what is none of a client's fault. */
  readonly observer?: Pick<Observer, "onError">;
  /** Largest request body, in bytes. Default 10 MiB. */
  readonly maxBodyBytes?: number;
  /** Silence on a stream after which a comment is sent, in milliseconds. Default 15,000. */
  readonly heartbeatMs?: number;
}

/** Agents as models of OpenAI's API. */
export interface OpenaiFacade extends Beside {
  /** By itself, for hosts that speak `Request` and `Response`; whatever stands before `/v1/` in the path. Takes `agents`. */
  readonly fetch: (request: Request) => Promise<Response>;
}

const PATH = /\/v1\/(?:(chat\/completions)|models(?:\/([^/]+))?)$/;
const MAX_BODY = 10 * 2 ** 20;
const HEARTBEAT_MS = 15_000;
const STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

/**
 * For chat clients that know OpenAI's API and nothing of A2A: `/v1/models` are the agents, `/v1/chat/completions` says
 * something to one. Beside a server it lets in whom that lets in, and nobody else.
 */
export function openaiFacade(options: OpenaiFacadeOptions = {}): OpenaiFacade {
  const { maxBodyBytes = MAX_BODY, heartbeatMs = HEARTBEAT_MS } = options;
  const threads = new Threads();

  /** What a client is told of an error; the observer is told of one that is ours. */
  const told = (error: unknown, signal: AbortSignal): A2AError | TaskEnded => {
    if (error instanceof A2AError || error instanceof TaskEnded) return error;
    if (!signal.aborted) options.observer?.onError?.({ where: "openai facade", error });
    return A2AError.from(error);
  };

  async function agentsOf(request: Request, enter?: () => Promise<Inside>): Promise<Agents> {
    const inside = await enter?.();
    if (options.agents) {
      const company = await options.agents(request);
      if (company) return given(company);
      throw new A2AError("UNAUTHENTICATED", "The request is not authenticated; send a valid API key.");
    }
    if (inside) return within(inside);
    throw new Error("openaiFacade by itself has no agents; give it some, or put it beside a server.");
  }

  async function answer(request: Request, enter?: () => Promise<Inside>): Promise<Response> {
    try {
      const [, chat, model] = PATH.exec(new URL(request.url).pathname) ?? [];
      const agents = await agentsOf(request, enter);
      const wanted = chat === undefined ? "GET" : "POST";
      if (request.method !== wanted)
        throw new A2AError("METHOD_NOT_ALLOWED", `This takes ${wanted}, not ${request.method}.`);
      if (chat !== undefined) return await complete(request, agents);
      return await list(agents, model);
    } catch (error) {
      return refusalOf(told(error, request.signal));
    }
  }

  async function complete(request: Request, agents: Agents): Promise<Response> {
    const asked = decodeChatRequest(await readText(request, maxBodyBytes));
    const remote = await agents.open(asked.model);
    if (!remote) throw noModel(asked.model);
    const left = new AbortController();
    const signal = AbortSignal.any([request.signal, left.signal]);
    const messageId = request.headers.get("idempotency-key")?.slice(0, 200);
    const said = new Answer();
    const { caller } = agents;
    const pieces = speak({ remote, caller, request: asked, threads, messageId, signal }, said);
    // What is refused is refused with a status, so the first is waited for.
    const first = await pieces.next();
    const completion = new Completion(asked, said.taskId ?? crypto.randomUUID(), Date.now());
    if (asked.stream) {
      const body = streamOf(
        chunksOf(completion, said, first, pieces, (error) => told(error, signal)),
        left,
        heartbeatMs,
      );
      return new Response(body, { headers: STREAM_HEADERS });
    }
    for (let piece = first; !piece.done; piece = await pieces.next());
    return Response.json(completion.whole(said));
  }

  return {
    takes: (path) => PATH.exec(path)?.index === 0,
    answer,
    fetch: (request) => {
      if (PATH.test(new URL(request.url).pathname)) return answer(request);
      const text = "There is nothing here; the paths are /v1/models and /v1/chat/completions.";
      return Promise.resolve(refuse(new A2AError("NOT_FOUND", text)));
    },
  };
}

async function list(agents: Agents, one: string | undefined): Promise<Response> {
  const names = await agents.names();
  if (one === undefined) return Response.json({ object: "list", data: names.map(toModel) });
  const name = names.find((name) => encodeURIComponent(name) === one);
  if (name === undefined) throw noModel(one);
  return Response.json(toModel(name));
}

function toModel(id: string): object {
  return { id, object: "model", created: 0, owned_by: "a2a" };
}

function noModel(name: string): A2AError {
  const text = `There is no agent ${JSON.stringify(name.slice(0, 80))}; GET /v1/models lists those that there are.`;
  return new A2AError("NOT_FOUND", text);
}

async function* chunksOf(
  completion: Completion,
  answer: Answer,
  first: IteratorResult<string, void>,
  rest: AsyncGenerator<string, void>,
  told: (error: unknown) => A2AError | TaskEnded,
): AsyncGenerator<string, void, undefined> {
  try {
    yield frame(completion.first(answer));
    for (let piece = first; !piece.done; piece = await rest.next())
      if (piece.value !== "") yield frame(completion.more(piece.value));
    yield completion.last(answer).map(frame).join("") + encodeFrame("[DONE]");
  } catch (error) {
    yield frame({ error: errorOf(told(error)) });
  } finally {
    await rest.return();
  }
}

const frame = (json: object): string => encodeFrame(JSON.stringify(json));

/** As fast as it is read; leaving ends it. */
function streamOf(
  frames: AsyncGenerator<string, void>,
  left: AbortController,
  heartbeatMs: number,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let heart: NodeJS.Timeout | undefined;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      heart = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(HEARTBEAT));
      }, heartbeatMs);
    },
    async pull(controller) {
      const { done, value } = await frames.next();
      if (done) {
        clearInterval(heart);
        controller.close();
      } else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      clearInterval(heart);
      left.abort();
      await frames.return();
    },
  });
}

/** A status that no client repeats by itself: the work would be done again. */
const TASK_ENDED = 422;

function refusalOf(error: A2AError | TaskEnded): Response {
  if (error instanceof A2AError) return refuse(error);
  const headers = { "x-should-retry": "false" };
  return Response.json({ error: errorOf(error) }, { status: TASK_ENDED, headers });
}

function errorOf(error: A2AError | TaskEnded): ChatError {
  if (error instanceof A2AError) return toChatError(error);
  return { message: error.message, type: "server_error", param: null, code: error.code };
}
