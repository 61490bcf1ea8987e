import { formatJob, type BenchmarkJob } from "../job.ts";

/** How a server wants to be asked: A2A 1.0 or 0.3 over JSON-RPC, or a bare path (the floor). */
export type RequestDialect = "1.0" | "0.3" | "floor";

export type A2AMethod = "SendMessage" | "SendStreamingMessage" | "SubscribeToTask";

/** A server as the generator sees it. */
export interface ServerEndpoint {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly dialect: RequestDialect;
}

/** A request but for its message id, which must be new each time: servers may take the same message for a retry. */
export interface RequestTemplate {
  readonly host: string;
  readonly port: number;
  readonly beforeId: string;
  /** What follows the id; undefined for a request without one. */
  readonly afterId: string | undefined;
}

/** Every id has this length, so that Content-Length is the same for all requests. */
const MESSAGE_ID_LENGTH = 20;
const RUN_ID = Math.random().toString(36).slice(2, 8).padEnd(6, "0");
let sentCount = 0;

/** The next request of a template. */
export function renderNextRequest({ beforeId, afterId }: RequestTemplate): string {
  if (afterId === undefined) return beforeId;
  return beforeId + RUN_ID + String(sentCount++).padStart(MESSAGE_ID_LENGTH - RUN_ID.length, "0") + afterId;
}

/** A request that gives an agent a job. */
export function createJobRequest(
  endpoint: ServerEndpoint,
  method: A2AMethod,
  job: BenchmarkJob,
  returnImmediately = false,
): RequestTemplate {
  const text = formatJob(job);
  const v03 = endpoint.dialect === "0.3";
  const message = v03
    ? { kind: "message", messageId: "{id}", role: "user", parts: [{ kind: "text", text }] }
    : { messageId: "{id}", role: "ROLE_USER", parts: [{ text }] };
  const names = { SendMessage: "message/send", SendStreamingMessage: "message/stream" } as Record<
    string,
    string
  >;
  const params = returnImmediately ? { message, configuration: { returnImmediately } } : { message };
  const rpc = { jsonrpc: "2.0", id: 1, method: v03 ? names[method] : method, params };
  return createTemplate(endpoint, getBaselinePath(method, job), JSON.stringify(rpc));
}

/** A request that follows a task. */
export function createSubscribeRequest(endpoint: ServerEndpoint, taskId: string): RequestTemplate {
  const rpc = { jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id: taskId } };
  return createTemplate(endpoint, getBaselinePath("SubscribeToTask"), JSON.stringify(rpc));
}

/** Where the floor answers: it does not look into bodies. */
export function getBaselinePath(method: A2AMethod, job?: BenchmarkJob): string {
  return job ? `/${method}/${job.kind}/${job.count}` : `/${method}`;
}

function createTemplate(
  { host, port, path, dialect }: ServerEndpoint,
  bare: string,
  body: string,
): RequestTemplate {
  const [before = "", after] = body.split("{id}");
  const length = after === undefined ? body.length : body.length - "{id}".length + MESSAGE_ID_LENGTH;
  const head =
    `POST ${dialect === "floor" ? bare : path} HTTP/1.1\r\nHost: ${host}:${port}\r\n` +
    `Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n` +
    `${dialect === "1.0" ? "A2A-Version: 1.0\r\n" : ""}Content-Length: ${length}\r\n\r\n`;
  return { host, port, beforeId: head + before, afterId: after };
}
