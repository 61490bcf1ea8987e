import { formatJobAsMessageText, type BenchmarkJob } from "../benchmark-job.ts";

/**
 * Request format of a server: A2A 1.0 or 0.3 over JSON-RPC, or a plain path for the baseline. The baseline
 * writes each event separately for `floor`, and the entire response at once for `floor-at-once`.
 */
export type RequestDialect = "1.0" | "0.3" | "floor" | "floor-at-once";

export type A2AMethod = "SendMessage" | "SendStreamingMessage" | "SubscribeToTask";

/** Network endpoint of a server. */
export interface ServerEndpoint {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly dialect: RequestDialect;
}

/**
 * An HTTP request without its message id. Each request needs a new id, because servers may treat a known id
 * as a retry.
 */
export interface RequestTemplate {
  readonly host: string;
  readonly port: number;
  readonly beforeId: string;
  /** Text after the id. `undefined` for a request without a message id. */
  readonly afterId: string | undefined;
}

/** Length of every message id. The constant length makes `Content-Length` equal for all requests. */
export const MESSAGE_ID_LENGTH = 20;
const MESSAGE_ID_RUN_PREFIX = Math.random().toString(36).slice(2, 8).padEnd(6, "0");
let createdMessageIdCount = 0;

/** Returns a new message id. Servers may treat a message with a known id as a retry. */
export function createMessageId(): string {
  return (
    MESSAGE_ID_RUN_PREFIX +
    String(createdMessageIdCount++).padStart(MESSAGE_ID_LENGTH - MESSAGE_ID_RUN_PREFIX.length, "0")
  );
}

/** Returns the next request of a template, with a new message id. */
export function renderNextRequest({ beforeId, afterId }: RequestTemplate): string {
  return afterId === undefined ? beforeId : beforeId + createMessageId() + afterId;
}

/** Creates a request that sends a job to an agent. */
export function createJobRequest(
  endpoint: ServerEndpoint,
  method: A2AMethod,
  job: BenchmarkJob,
  returnImmediately = false,
): RequestTemplate {
  const text = formatJobAsMessageText(job);
  const v03 = endpoint.dialect === "0.3";
  const message = v03
    ? { kind: "message", messageId: "{id}", role: "user", parts: [{ kind: "text", text }] }
    : { messageId: "{id}", role: "ROLE_USER", parts: [{ text }] };
  const params = returnImmediately ? { message, configuration: { returnImmediately } } : { message };
  const rpc = { jsonrpc: "2.0", id: 1, method: v03 ? V03_METHODS[method] : method, params };
  return createRequestTemplate(endpoint, getBaselineServerUrlPath(method, job), JSON.stringify(rpc));
}

/** Creates an A2A 1.0 request that continues a task. The response omits the history. */
export function createFollowUpRequest(
  endpoint: ServerEndpoint,
  ids: { readonly taskId: string; readonly contextId: string },
  job: BenchmarkJob,
): RequestTemplate {
  const message = {
    messageId: "{id}",
    ...ids,
    role: "ROLE_USER",
    parts: [{ text: formatJobAsMessageText(job) }],
  };
  const params = { message, configuration: { historyLength: 0 } };
  const rpc = { jsonrpc: "2.0", id: 1, method: "SendMessage", params };
  return createRequestTemplate(endpoint, getBaselineServerUrlPath("SendMessage", job), JSON.stringify(rpc));
}

/** Creates an A2A 1.0 request that lists tasks. `params` are the parameters of `ListTasks`. */
export function createListRequest(endpoint: ServerEndpoint, params: object): RequestTemplate {
  const rpc = { jsonrpc: "2.0", id: 1, method: "ListTasks", params };
  return createRequestTemplate(endpoint, "/ListTasks", JSON.stringify(rpc));
}

/** Creates a request that subscribes to a task. */
export function createSubscribeRequest(endpoint: ServerEndpoint, taskId: string): RequestTemplate {
  const rpc = { jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id: taskId } };
  return createRequestTemplate(endpoint, getBaselineServerUrlPath("SubscribeToTask"), JSON.stringify(rpc));
}

/** Suffix of the paths at which the baseline writes the entire response at once. */
export const FLOOR_AT_ONCE_SUFFIX = "/at-once";

/** Returns the path at which the baseline answers a request. The baseline does not read bodies. */
export function getBaselineServerUrlPath(method: A2AMethod, job?: BenchmarkJob): string {
  return job ? `/${method}/${job.kind}/${job.count}` : `/${method}`;
}

const V03_METHODS: Partial<Record<A2AMethod, string>> = {
  SendMessage: "message/send",
  SendStreamingMessage: "message/stream",
};

function createRequestTemplate(
  { host, port, path, dialect }: ServerEndpoint,
  bare: string,
  body: string,
): RequestTemplate {
  const [before = "", after] = body.split("{id}");
  const length = after === undefined ? body.length : body.length - "{id}".length + MESSAGE_ID_LENGTH;
  const paths: Record<RequestDialect, string> = {
    "1.0": path,
    "0.3": path,
    floor: bare,
    "floor-at-once": bare + FLOOR_AT_ONCE_SUFFIX,
  };
  const head =
    `POST ${paths[dialect]} HTTP/1.1\r\nHost: ${host}:${port}\r\n` +
    `Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n` +
    `${dialect === "1.0" ? "A2A-Version: 1.0\r\n" : ""}Content-Length: ${length}\r\n\r\n`;
  return { host, port, beforeId: head + before, afterId: after };
}
