import { type Binding } from "../../../src/studio/judge/index.ts";
import { VALID_TOKEN, type Pass } from "../passes.ts";

/** A request that the proxy forwards. */
export interface ProxiedRequest {
  readonly method: string;
  /** Path with the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A complete response of the good server. */
export interface ProxiedResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** A variation of a good server that violates one rule, and the test that must notice the violation. */
export interface BrokenServer {
  readonly name: string;
  readonly binding: Binding;
  readonly pass?: Pass;
  readonly seenBy: string;
  /** Changes a request before the good server receives it. */
  readonly changeRequest?: (request: ProxiedRequest) => ProxiedRequest;
  /** Changes a response that is not a stream. */
  readonly changeResponse?: (response: ProxiedResponse, request: ProxiedRequest) => ProxiedResponse;
  /** Changes the headers of all responses in place. */
  readonly changeHeaders?: (headers: Record<string, string>) => void;
  /** Returns whether an event of a stream reaches the client. */
  readonly keepsEvent?: (event: string) => boolean;
  readonly changeEvent?: (event: string) => string;
  /** Sends the events of a stream after its end. */
  readonly holdsStreams?: true;
  /** Removes the details of gRPC errors. */
  readonly dropsGrpcDetails?: true;
}

// oxlint-disable-next-line typescript/no-explicit-any -- The changes reach deep into JSON whose shape the good server guarantees.
type Json = any;

/** Changes the JSON of a response body in place. */
function changeJson(response: ProxiedResponse, change: (json: Json) => void): ProxiedResponse {
  if (!response.contentType.includes("json")) return response;
  const json: Json = JSON.parse(response.body);
  change(json);
  return { ...response, body: JSON.stringify(json) };
}

function isCall({ body }: ProxiedRequest, method: string): boolean {
  return body.includes(`"method":"${method}"`);
}

function withHeader(request: ProxiedRequest, name: string, value: string): ProxiedRequest {
  return { ...request, headers: { ...request.headers, [name]: value } };
}

const WEBHOOK_PATH = /\/notifications\/[\w-]+/;

export const BROKEN_SERVERS: readonly BrokenServer[] = [
  {
    name: "that reports a missing task as an internal error",
    binding: "jsonrpc",
    seenBy: "CORE-ERR-001",
    changeResponse: (response) =>
      changeJson(response, (json) => {
        if (json.error?.code === -32001) json.error.code = -32603;
      }),
  },
  {
    name: "that omits the id of JSON-RPC responses",
    binding: "jsonrpc",
    seenBy: "JSONRPC-ENV-001",
    changeResponse: (response) =>
      changeJson(response, (json) => {
        delete json.id;
      }),
  },
  {
    name: "that returns an outdated state from GetTask",
    binding: "jsonrpc",
    seenBy: "CORE-GET-001",
    changeResponse: (response, request) =>
      isCall(request, "GetTask")
        ? { ...response, body: response.body.replaceAll("TASK_STATE_COMPLETED", "TASK_STATE_WORKING") }
        : response,
  },
  {
    name: "that keeps only the last message of the history",
    binding: "jsonrpc",
    seenBy: "CORE-HIST-005",
    changeResponse: (response) =>
      changeJson(response, (json) => {
        json.result?.history?.splice(0, json.result.history.length - 1);
      }),
  },
  {
    name: "that closes streams before the last event",
    binding: "rest",
    seenBy: "STREAM-SSE-001",
    keepsEvent: (event) => !/TASK_STATE_(COMPLETED|FAILED|CANCELED)/.test(event),
  },
  {
    name: "that sends JSON as text/plain",
    binding: "jsonrpc",
    seenBy: "JSONRPC-CT-001",
    changeResponse: (response) => ({ ...response, contentType: "text/plain" }),
  },
  {
    name: "that ignores the requested protocol version",
    binding: "jsonrpc",
    seenBy: "VER-NEG-001",
    changeRequest: (request) => withHeader(request, "a2a-version", "1.0"),
  },
  {
    name: "that returns the first page for every page token",
    binding: "rest",
    seenBy: "CORE-LIST-003",
    changeRequest: (request) => ({ ...request, path: request.path.replace(/&pageToken=[^&]*/, "") }),
  },
  {
    name: "that replies to CancelTask without canceling the task",
    binding: "jsonrpc",
    seenBy: "CORE-CANCEL-001",
    changeRequest: (request) => ({
      ...request,
      body: request.body.replace('"method":"CancelTask"', '"method":"GetTask"'),
    }),
  },
  {
    name: "that accepts webhooks and sends no push notifications",
    binding: "jsonrpc",
    seenBy: "PUSH-DELIV-002",
    // The receiver of the runner expects the push notifications of each test at another path.
    changeRequest: (request) => ({
      ...request,
      body: request.body.replace(WEBHOOK_PATH, "/notifications/lost"),
    }),
    changeResponse: (response, request) => ({
      ...response,
      body: response.body.replace("/notifications/lost", WEBHOOK_PATH.exec(request.body)?.[0] ?? ""),
    }),
  },
  {
    name: "that serves the agent card at the path of A2A 0.2",
    binding: "jsonrpc",
    seenBy: "CARD-DISC-001",
    changeRequest: (request) => ({
      ...request,
      path: request.path.replace("/.well-known/agent-card.json", "/not-found"),
    }),
  },
  {
    name: "that declares authentication and accepts requests without credentials",
    binding: "jsonrpc",
    pass: "auth",
    seenBy: "SEC-AUTH-001",
    changeRequest: (request) =>
      request.headers["authorization"] === undefined
        ? withHeader(request, "authorization", `Bearer ${VALID_TOKEN}`)
        : request,
  },
  {
    name: "that replies to a missing task with HTTP 500",
    binding: "rest",
    seenBy: "REST-STATUS-001",
    changeResponse: (response) => (response.status === 404 ? { ...response, status: 500 } : response),
  },
  {
    name: "that returns the extended card for insufficient permissions",
    binding: "rest",
    seenBy: "SEC-EXTCARD-002",
    changeRequest: (request) =>
      request.headers["authorization"]?.includes("insufficient")
        ? withHeader(request, "authorization", `Bearer ${VALID_TOKEN}`)
        : request,
  },
  {
    name: "that sends gRPC errors without details",
    binding: "grpc",
    seenBy: "GRPC-STATUS-001",
    dropsGrpcDetails: true,
  },
];
