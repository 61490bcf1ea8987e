import { jobText, type Job } from "../job.ts";

/** How a server wants to be asked: A2A 1.0 or 0.3 over JSON-RPC, or a bare path (the floor). */
export type Dialect = "1.0" | "0.3" | "floor";

export type Method = "SendMessage" | "SendStreamingMessage" | "SubscribeToTask";

/** A server as the generator sees it. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly dialect: Dialect;
}

/** A request but for its message id, which must be new each time: servers may take the same message for a retry. */
export interface Template {
  readonly host: string;
  readonly port: number;
  readonly before: string;
  /** What follows the id; undefined for a request without one. */
  readonly after: string | undefined;
}

/** Every id has this length, so that Content-Length is the same for all requests. */
const ID_LENGTH = 20;
const RUN = Math.random().toString(36).slice(2, 8).padEnd(6, "0");
let sent = 0;

/** The next request of a template. */
export function nextRequest({ before, after }: Template): string {
  if (after === undefined) return before;
  return before + RUN + String(sent++).padStart(ID_LENGTH - RUN.length, "0") + after;
}

/** A request that gives an agent a job. */
export function jobRequest(
  endpoint: Endpoint,
  method: Method,
  job: Job,
  returnImmediately = false,
): Template {
  const text = jobText(job);
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
  return template(endpoint, floorPath(method, job), JSON.stringify(rpc));
}

/** A request that follows a task. */
export function subscribeRequest(endpoint: Endpoint, taskId: string): Template {
  const rpc = { jsonrpc: "2.0", id: 1, method: "SubscribeToTask", params: { id: taskId } };
  return template(endpoint, floorPath("SubscribeToTask"), JSON.stringify(rpc));
}

/** Where the floor answers: it does not look into bodies. */
export function floorPath(method: Method, job?: Job): string {
  return job ? `/${method}/${job.kind}/${job.count}` : `/${method}`;
}

function template({ host, port, path, dialect }: Endpoint, bare: string, body: string): Template {
  const [before = "", after] = body.split("{id}");
  const length = after === undefined ? body.length : body.length - "{id}".length + ID_LENGTH;
  const head =
    `POST ${dialect === "floor" ? bare : path} HTTP/1.1\r\nHost: ${host}:${port}\r\n` +
    `Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n` +
    `${dialect === "1.0" ? "A2A-Version: 1.0\r\n" : ""}Content-Length: ${length}\r\n\r\n`;
  return { host, port, before: head + before, after };
}
