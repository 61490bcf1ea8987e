import { agent, inputRequired } from "../../src/agents/adapters/index.ts";
import type { Task } from "../../src/protocol/index.ts";
import { createServer, type Server, type ServerOptions } from "../../src/server/index.ts";

/** A server with one echo agent, and functions that send it requests. */
export interface TestEndpoint {
  readonly server: Server;
  readonly url: string;
  /** Sends a JSON-RPC request with any body. */
  readonly postRaw: (
    body: string | Uint8Array<ArrayBuffer>,
    headers?: Record<string, string>,
  ) => Promise<JsonResponse>;
  /** Sends a well-formed JSON-RPC request. */
  readonly callJsonRpc: (
    method: string,
    params?: unknown,
    headers?: Record<string, string>,
  ) => Promise<JsonResponse>;
  /** Sends a request over the HTTP+JSON binding. */
  readonly callRest: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<JsonResponse>;
  /** Throws unless a valid request succeeds. Tests call it after every invalid request. */
  readonly assertStillAnswers: () => Promise<void>;
}

export interface JsonResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body. Every response is JSON. */
  readonly body: ResponseBody;
}

/** The members of a response body that tests read, for results and errors of both bindings. */
export interface ResponseBody {
  readonly id?: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: {
    readonly code: number;
    readonly status?: string;
    readonly message: string;
    readonly data?: readonly ErrorDetail[];
    readonly details?: readonly ErrorDetail[];
  };
}

interface ErrorDetail {
  readonly "@type": string;
  readonly reason?: string;
  readonly domain?: string;
  readonly fieldViolations?: readonly { readonly field: string; readonly description: string }[];
}

const echo = agent({ name: "echo", description: "Says what it hears" }, async function* ({ text }) {
  if (text === "ask") yield inputRequired("What?");
  else yield text;
});

export async function startTestEndpoint(options: ServerOptions = {}): Promise<TestEndpoint> {
  // Disables push notifications, so that the tests also cover unsupported operations.
  const server = createServer({ echo }, { store: "memory", push: false, ...options });
  const { agents } = await server.listen();
  const url = agents[0]?.url ?? "";
  const version = { "a2a-version": "1.0" };
  const type = { "content-type": "application/json" };

  const post: TestEndpoint["postRaw"] = (body, headers = {}) =>
    fetchJson(url, { method: "POST", body, headers: { ...version, ...type, ...headers } });
  const call: TestEndpoint["callJsonRpc"] = (method, params, headers) =>
    post(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }), headers);
  const rest: TestEndpoint["callRest"] = (method, path, body, headers = {}) => {
    const content = body === undefined ? {} : type;
    const text = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
    return fetchJson(url + path, {
      method,
      headers: { ...version, ...content, ...headers },
      ...(text === undefined ? {} : { body: text }),
    });
  };
  const stillAnswers = async (): Promise<void> => {
    const { body } = await call("SendMessage", { message: createValidMessage() });
    if (requireTask(body).status.state !== "TASK_STATE_COMPLETED")
      throw new Error(`a valid request failed with ${JSON.stringify(body)}`);
  };
  return { server, url, postRaw: post, callJsonRpc: call, callRest: rest, assertStillAnswers: stillAnswers };
}

async function fetchJson(url: string, init: RequestInit): Promise<JsonResponse> {
  const response = await fetch(url, init);
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as ResponseBody,
  };
}

export function createValidMessage(): Record<string, unknown> {
  return { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "hello" }] };
}

/** Returns the task in the response to SendMessage, in either binding. */
export function requireTask(body: ResponseBody): Task {
  const { task } = (body.result ?? body) as { task?: Task };
  if (!task) throw new Error(`there is no task in ${JSON.stringify(body)}`);
  return task;
}

/** Returns the fields that an error names, in either binding. */
export function listViolatedFields({ error }: ResponseBody): string[] {
  const details = error?.data ?? error?.details ?? [];
  return details.flatMap(({ fieldViolations = [] }) => fieldViolations.map(({ field }) => field));
}

/** Returns the reason in an error's ErrorInfo, in either binding. */
export function findErrorReason({ error }: ResponseBody): string | undefined {
  return (error?.data ?? error?.details ?? []).find(({ reason }) => reason !== undefined)?.reason;
}
