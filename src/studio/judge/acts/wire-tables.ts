import type { Binding } from "./corpus.ts";

// The tables of A2A 1.0 §5.3 and §5.4. They are separate from the tables of the library, because the runner also checks
// servers that use the library. Where the copies in ACTS §4.1 and §6.2 differ, A2A takes precedence (ACTS §6.2).

/** How an abstract operation is called. The RPC name is the JSON-RPC method and the gRPC method. */
export interface OperationEntry {
  readonly rpc: string;
  readonly http: readonly [method: string, path: string];
  readonly isStream?: true;
}

/** The earlier version of A2A whose rules are checked. */
export const OLDER_VERSION = "0.3";
export const CARD_PATH = "/.well-known/agent-card.json";

/** Names of the bindings in agent cards. */
export const BINDING_NAMES: Readonly<Record<Binding, string>> = {
  jsonrpc: "JSONRPC",
  rest: "HTTP+JSON",
  grpc: "GRPC",
};

/** Abstract operations other than `get_agent_card`, which is an HTTP request on every binding. */
export const OPERATIONS: Readonly<Record<string, OperationEntry>> = {
  send_message: { rpc: "SendMessage", http: ["POST", "/message:send"] },
  send_streaming_message: { rpc: "SendStreamingMessage", http: ["POST", "/message:stream"], isStream: true },
  get_task: { rpc: "GetTask", http: ["GET", "/tasks/{id}"] },
  list_tasks: { rpc: "ListTasks", http: ["GET", "/tasks"] },
  cancel_task: { rpc: "CancelTask", http: ["POST", "/tasks/{id}:cancel"] },
  subscribe_to_task: { rpc: "SubscribeToTask", http: ["POST", "/tasks/{id}:subscribe"], isStream: true },
  get_extended_agent_card: { rpc: "GetExtendedAgentCard", http: ["GET", "/extendedAgentCard"] },
  create_push_config: {
    rpc: "CreateTaskPushNotificationConfig",
    http: ["POST", "/tasks/{taskId}/pushNotificationConfigs"],
  },
  get_push_config: {
    rpc: "GetTaskPushNotificationConfig",
    http: ["GET", "/tasks/{taskId}/pushNotificationConfigs/{id}"],
  },
  list_push_configs: {
    rpc: "ListTaskPushNotificationConfigs",
    http: ["GET", "/tasks/{taskId}/pushNotificationConfigs"],
  },
  delete_push_config: {
    rpc: "DeleteTaskPushNotificationConfig",
    http: ["DELETE", "/tasks/{taskId}/pushNotificationConfigs/{id}"],
  },
};

/** How an error appears. A2A 1.0.0 and 1.0.1 define different statuses for some errors, and both are accepted. */
interface ErrorEntry {
  readonly code: number;
  readonly reason?: string;
  readonly http?: readonly number[];
  readonly grpc?: readonly string[];
}

const FAILED = ["FAILED_PRECONDITION"];
const FAILED_OR_UNIMPLEMENTED = ["FAILED_PRECONDITION", "UNIMPLEMENTED"];

const ERRORS: Readonly<Record<string, ErrorEntry>> = {
  TaskNotFoundError: { code: -32001, reason: "TASK_NOT_FOUND", http: [404], grpc: ["NOT_FOUND"] },
  TaskNotCancelableError: { code: -32002, reason: "TASK_NOT_CANCELABLE", http: [400, 409], grpc: FAILED },
  PushNotificationNotSupportedError: {
    code: -32003,
    reason: "PUSH_NOTIFICATION_NOT_SUPPORTED",
    http: [400],
    grpc: FAILED_OR_UNIMPLEMENTED,
  },
  UnsupportedOperationError: {
    code: -32004,
    reason: "UNSUPPORTED_OPERATION",
    http: [400],
    grpc: FAILED_OR_UNIMPLEMENTED,
  },
  ContentTypeNotSupportedError: {
    code: -32005,
    reason: "CONTENT_TYPE_NOT_SUPPORTED",
    http: [400, 415],
    grpc: ["INVALID_ARGUMENT"],
  },
  ExtendedCardNotSupportedError: {
    code: -32007,
    reason: "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
    http: [400],
    grpc: FAILED,
  },
  ExtensionSupportRequiredError: {
    code: -32008,
    reason: "EXTENSION_SUPPORT_REQUIRED",
    http: [400],
    grpc: FAILED,
  },
  VersionNotSupportedError: {
    code: -32009,
    reason: "VERSION_NOT_SUPPORTED",
    http: [400],
    grpc: FAILED_OR_UNIMPLEMENTED,
  },
  InvalidParamsError: { code: -32602 },
  MethodNotFoundError: { code: -32601 },
  InternalError: { code: -32603 },
  JSONParseError: { code: -32700 },
};

/** Error names of ACTS for an error that A2A names differently. */
const ALIASES: Readonly<Record<string, string>> = { StreamingNotSupportedError: "UnsupportedOperationError" };

export function resolveErrorAlias(name: unknown): unknown {
  return typeof name === "string" ? (ALIASES[name] ?? name) : name;
}

/** An error response, independent of the binding. */
export interface ObservedError {
  /** Abstract name of the error, or a description of what the response contains instead. */
  readonly error_type: string;
  readonly message: unknown;
  /** Error details as ProtoJSON `Any` objects: `error.data` in JSON-RPC, `error.details` in HTTP+JSON and gRPC. */
  readonly details: unknown;
}

export function nameJsonRpcError(code: unknown): string {
  const entry = Object.entries(ERRORS).find(([, { code: known }]) => known === code);
  return entry?.[0] ?? `unknown error with the JSON-RPC code ${JSON.stringify(code)}`;
}

/**
 * Names an error by the reason in its ErrorInfo, because several errors share a status (A2A §11.6). A status that A2A
 * does not define for the reason is part of the name, so that no test accepts it.
 */
export function nameErrorByReason(
  details: unknown,
  binding: "http" | "grpc",
  status: number | string,
): string {
  const reason = findErrorReason(details);
  if (reason === undefined) return `error without ErrorInfo and with the status ${status}`;
  const [name, entry] = Object.entries(ERRORS).find(([, known]) => known.reason === reason) ?? [];
  if (name === undefined) return `unknown error ${reason} with the status ${status}`;
  const statuses: readonly (number | string)[] = entry?.[binding] ?? [];
  return statuses.includes(status) ? name : `${name} with the wrong status ${status}`;
}

/** Names an error that the client of the library reports. */
export function nameReason(reason: string): string {
  if (reason === "INVALID_PARAMS") return "InvalidParamsError";
  // HTTP+JSON of 0.3 has only the status 404.
  if (reason === "NOT_FOUND") return "TaskNotFoundError";
  return Object.entries(ERRORS).find(([, known]) => known.reason === reason)?.[0] ?? reason;
}

function findErrorReason(details: unknown): string | undefined {
  if (!Array.isArray(details)) return undefined;
  for (const detail of details as { "@type"?: unknown; reason?: unknown }[]) {
    const isInfo = String(detail?.["@type"]).endsWith("/google.rpc.ErrorInfo");
    if (isInfo && typeof detail.reason === "string") return detail.reason;
  }
  return undefined;
}

/** gRPC status names by number, with the HTTP status that stands for it in `expect.status`. */
export const GRPC_STATUSES: readonly (readonly [name: string, http: number])[] = [
  ["OK", 200],
  ["CANCELLED", 499],
  ["UNKNOWN", 500],
  ["INVALID_ARGUMENT", 400],
  ["DEADLINE_EXCEEDED", 504],
  ["NOT_FOUND", 404],
  ["ALREADY_EXISTS", 409],
  ["PERMISSION_DENIED", 403],
  ["RESOURCE_EXHAUSTED", 429],
  ["FAILED_PRECONDITION", 400],
  ["ABORTED", 409],
  ["OUT_OF_RANGE", 400],
  ["UNIMPLEMENTED", 501],
  ["INTERNAL", 500],
  ["UNAVAILABLE", 503],
  ["DATA_LOSS", 500],
  ["UNAUTHENTICATED", 401],
];
