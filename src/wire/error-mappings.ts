import type { ErrorReason } from "../protocol/index.ts";

/**
 * Patch version of A2A 1.0, which determines the error statuses of the server. A2A 1.0.0 and 1.0.1 differ
 * in a few error statuses and in the REST media type.
 */
export type SpecPatchVersion = "1.0.0" | "1.0.1";

/** Names of the gRPC status codes that A2A uses. */
export type GrpcStatusName =
  | "INVALID_ARGUMENT"
  | "NOT_FOUND"
  | "PERMISSION_DENIED"
  | "UNAUTHENTICATED"
  | "RESOURCE_EXHAUSTED"
  | "FAILED_PRECONDITION"
  | "UNIMPLEMENTED"
  | "INTERNAL"
  | "UNAVAILABLE";

/** JSON-RPC code, HTTP status, and gRPC status of one error reason. */
interface ErrorMapping {
  jsonRpc: number;
  http: number;
  grpc: GrpcStatusName;
}

/**
 * Error codes by error reason for all bindings (A2A 1.0.1 §5.4). JSON-RPC reserves -32000 for
 * implementations. Colloquy does not use the code -32010, because the draft of A2A 1.1 reserves this code.
 */
export const ERROR_MAPPINGS: Record<ErrorReason, ErrorMapping> = {
  TASK_NOT_FOUND: { jsonRpc: -32001, http: 404, grpc: "NOT_FOUND" },
  TASK_NOT_CANCELABLE: { jsonRpc: -32002, http: 400, grpc: "FAILED_PRECONDITION" },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { jsonRpc: -32003, http: 400, grpc: "FAILED_PRECONDITION" },
  UNSUPPORTED_OPERATION: { jsonRpc: -32004, http: 400, grpc: "FAILED_PRECONDITION" },
  CONTENT_TYPE_NOT_SUPPORTED: { jsonRpc: -32005, http: 400, grpc: "INVALID_ARGUMENT" },
  INVALID_AGENT_RESPONSE: { jsonRpc: -32006, http: 500, grpc: "INTERNAL" },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: { jsonRpc: -32007, http: 400, grpc: "FAILED_PRECONDITION" },
  EXTENSION_SUPPORT_REQUIRED: { jsonRpc: -32008, http: 400, grpc: "FAILED_PRECONDITION" },
  VERSION_NOT_SUPPORTED: { jsonRpc: -32009, http: 400, grpc: "FAILED_PRECONDITION" },
  PARSE_ERROR: { jsonRpc: -32700, http: 400, grpc: "INVALID_ARGUMENT" },
  INVALID_REQUEST: { jsonRpc: -32600, http: 400, grpc: "INVALID_ARGUMENT" },
  METHOD_NOT_FOUND: { jsonRpc: -32601, http: 404, grpc: "UNIMPLEMENTED" },
  INVALID_PARAMS: { jsonRpc: -32602, http: 400, grpc: "INVALID_ARGUMENT" },
  INTERNAL: { jsonRpc: -32603, http: 500, grpc: "INTERNAL" },
  NOT_FOUND: { jsonRpc: -32000, http: 404, grpc: "NOT_FOUND" },
  METHOD_NOT_ALLOWED: { jsonRpc: -32000, http: 405, grpc: "UNIMPLEMENTED" },
  PAYLOAD_TOO_LARGE: { jsonRpc: -32000, http: 413, grpc: "RESOURCE_EXHAUSTED" },
  UNAUTHENTICATED: { jsonRpc: -32000, http: 401, grpc: "UNAUTHENTICATED" },
  PERMISSION_DENIED: { jsonRpc: -32000, http: 403, grpc: "PERMISSION_DENIED" },
  RESOURCE_EXHAUSTED: { jsonRpc: -32000, http: 429, grpc: "RESOURCE_EXHAUSTED" },
  UNAVAILABLE: { jsonRpc: -32000, http: 503, grpc: "UNAVAILABLE" },
};

/** Error statuses that differ between A2A 1.0.0 and 1.0.1. */
const ERROR_STATUS_OVERRIDES_1_0_0: Partial<
  Record<ErrorReason, Partial<Pick<ErrorMapping, "http" | "grpc">>>
> = {
  TASK_NOT_CANCELABLE: { http: 409 },
  CONTENT_TYPE_NOT_SUPPORTED: { http: 415 },
  INVALID_AGENT_RESPONSE: { http: 502 },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { grpc: "UNIMPLEMENTED" },
  UNSUPPORTED_OPERATION: { grpc: "UNIMPLEMENTED" },
  VERSION_NOT_SUPPORTED: { grpc: "UNIMPLEMENTED" },
};

/** Returns the HTTP status and the gRPC status that a revision of A2A defines for an error reason. */
export function getHttpAndGrpcErrorStatus(
  reason: ErrorReason,
  revision: SpecPatchVersion,
): { http: number; grpc: GrpcStatusName } {
  const { http, grpc } = ERROR_MAPPINGS[reason];
  return revision === "1.0.0" ? { http, grpc, ...ERROR_STATUS_OVERRIDES_1_0_0[reason] } : { http, grpc };
}

/**
 * Returns `true` if the A2A specification defines the error. These errors have an ErrorInfo with the A2A domain.
 */
export function isDefinedByA2A(reason: ErrorReason): boolean {
  const { jsonRpc } = ERROR_MAPPINGS[reason];
  return jsonRpc < -32_000 && jsonRpc > -32_010;
}

const ERROR_REASONS = Object.keys(ERROR_MAPPINGS) as ErrorReason[];

/** Returns `true` if a received value is an error reason that Colloquy knows. */
export function isErrorReason(value: unknown): value is ErrorReason {
  return typeof value === "string" && Object.hasOwn(ERROR_MAPPINGS, value);
}

/**
 * Returns the error reason for a JSON-RPC error code. Returns `undefined` if the code is unknown. Also
 * returns `undefined` for -32000, because several error reasons share this code.
 */
export function findReasonByJsonRpcCode(code: unknown): ErrorReason | undefined {
  return code === -32000
    ? undefined
    : ERROR_REASONS.find((reason) => ERROR_MAPPINGS[reason].jsonRpc === code);
}

const ERROR_REASONS_BY_HTTP_STATUS: Readonly<Record<number, ErrorReason>> = {
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  405: "METHOD_NOT_ALLOWED",
  409: "TASK_NOT_CANCELABLE",
  413: "PAYLOAD_TOO_LARGE",
  415: "CONTENT_TYPE_NOT_SUPPORTED",
  429: "RESOURCE_EXHAUSTED",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "UNAVAILABLE",
};

/** Returns the error reason for an HTTP status, for responses whose body has no error details. */
export function getReasonByHttpStatus(status: number): ErrorReason {
  return ERROR_REASONS_BY_HTTP_STATUS[status] ?? (status < 500 ? "INVALID_PARAMS" : "INTERNAL");
}

/**
 * Converts an error reason to the error name in A2A §3.3.2, for example `TASK_NOT_FOUND` to
 * `TaskNotFoundError`.
 */
export function toA2AErrorName(reason: ErrorReason): string {
  if (reason === "PARSE_ERROR") return "JSONParseError";
  const words = reason.toLowerCase().split("_");
  return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")}Error`;
}

/**
 * Returns the error reason of an error name such as `TaskNotFoundError`, or `undefined` if the error name
 * is unknown.
 */
export function findReasonByErrorName(name: string | undefined): ErrorReason | undefined {
  return ERROR_REASONS.find((reason) => toA2AErrorName(reason) === name);
}
