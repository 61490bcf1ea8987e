import type { ErrorReason } from "../protocol/index.ts";

/** The patch of A2A 1.0 whose tables a server follows; they differ in a few statuses and in the REST media type. */
export type SpecRevision = "1.0.0" | "1.0.1";

/** The canonical names of gRPC's status codes that A2A uses. */
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

/** How one reason is written by each carrier. */
export interface ErrorMapping {
  jsonRpc: number;
  http: number;
  grpc: GrpcStatusName;
  /** True for the errors that A2A itself defines: they carry an ErrorInfo of A2A's domain. */
  isDefinedByA2A: boolean;
}

/**
 * Every reason in every carrier (A2A §5.4 at 1.0.1). -32000 is the code for what JSON-RPC leaves to the
 * implementation; -32010 is kept free, the draft of 1.1 has taken it.
 */
export const ERROR_MAPPINGS: Record<ErrorReason, ErrorMapping> = {
  TASK_NOT_FOUND: { jsonRpc: -32001, http: 404, grpc: "NOT_FOUND", isDefinedByA2A: true },
  TASK_NOT_CANCELABLE: { jsonRpc: -32002, http: 400, grpc: "FAILED_PRECONDITION", isDefinedByA2A: true },
  PUSH_NOTIFICATION_NOT_SUPPORTED: {
    jsonRpc: -32003,
    http: 400,
    grpc: "FAILED_PRECONDITION",
    isDefinedByA2A: true,
  },
  UNSUPPORTED_OPERATION: { jsonRpc: -32004, http: 400, grpc: "FAILED_PRECONDITION", isDefinedByA2A: true },
  CONTENT_TYPE_NOT_SUPPORTED: { jsonRpc: -32005, http: 400, grpc: "INVALID_ARGUMENT", isDefinedByA2A: true },
  INVALID_AGENT_RESPONSE: { jsonRpc: -32006, http: 500, grpc: "INTERNAL", isDefinedByA2A: true },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: {
    jsonRpc: -32007,
    http: 400,
    grpc: "FAILED_PRECONDITION",
    isDefinedByA2A: true,
  },
  EXTENSION_SUPPORT_REQUIRED: {
    jsonRpc: -32008,
    http: 400,
    grpc: "FAILED_PRECONDITION",
    isDefinedByA2A: true,
  },
  VERSION_NOT_SUPPORTED: { jsonRpc: -32009, http: 400, grpc: "FAILED_PRECONDITION", isDefinedByA2A: true },
  PARSE_ERROR: { jsonRpc: -32700, http: 400, grpc: "INVALID_ARGUMENT", isDefinedByA2A: false },
  INVALID_REQUEST: { jsonRpc: -32600, http: 400, grpc: "INVALID_ARGUMENT", isDefinedByA2A: false },
  METHOD_NOT_FOUND: { jsonRpc: -32601, http: 404, grpc: "UNIMPLEMENTED", isDefinedByA2A: false },
  INVALID_PARAMS: { jsonRpc: -32602, http: 400, grpc: "INVALID_ARGUMENT", isDefinedByA2A: false },
  INTERNAL: { jsonRpc: -32603, http: 500, grpc: "INTERNAL", isDefinedByA2A: false },
  NOT_FOUND: { jsonRpc: -32000, http: 404, grpc: "NOT_FOUND", isDefinedByA2A: false },
  METHOD_NOT_ALLOWED: { jsonRpc: -32000, http: 405, grpc: "UNIMPLEMENTED", isDefinedByA2A: false },
  PAYLOAD_TOO_LARGE: { jsonRpc: -32000, http: 413, grpc: "RESOURCE_EXHAUSTED", isDefinedByA2A: false },
  UNAUTHENTICATED: { jsonRpc: -32000, http: 401, grpc: "UNAUTHENTICATED", isDefinedByA2A: false },
  PERMISSION_DENIED: { jsonRpc: -32000, http: 403, grpc: "PERMISSION_DENIED", isDefinedByA2A: false },
  RESOURCE_EXHAUSTED: { jsonRpc: -32000, http: 429, grpc: "RESOURCE_EXHAUSTED", isDefinedByA2A: false },
  UNAVAILABLE: { jsonRpc: -32000, http: 503, grpc: "UNAVAILABLE", isDefinedByA2A: false },
};

/** Where A2A 1.0.0 had other statuses than 1.0.1. */
const STATUS_OVERRIDES_1_0_0: Partial<Record<ErrorReason, Partial<Pick<ErrorMapping, "http" | "grpc">>>> = {
  TASK_NOT_CANCELABLE: { http: 409 },
  CONTENT_TYPE_NOT_SUPPORTED: { http: 415 },
  INVALID_AGENT_RESPONSE: { http: 502 },
  PUSH_NOTIFICATION_NOT_SUPPORTED: { grpc: "UNIMPLEMENTED" },
  UNSUPPORTED_OPERATION: { grpc: "UNIMPLEMENTED" },
  VERSION_NOT_SUPPORTED: { grpc: "UNIMPLEMENTED" },
};

/** The HTTP and gRPC status of a reason in a revision of the specification. */
export function getErrorStatus(
  reason: ErrorReason,
  revision: SpecRevision,
): { http: number; grpc: GrpcStatusName } {
  const { http, grpc } = ERROR_MAPPINGS[reason];
  return revision === "1.0.0" ? { http, grpc, ...STATUS_OVERRIDES_1_0_0[reason] } : { http, grpc };
}

const ERROR_REASONS = Object.keys(ERROR_MAPPINGS) as ErrorReason[];

/** True for a reason that this library knows; a server may send any. */
export function isErrorReason(value: unknown): value is ErrorReason {
  return typeof value === "string" && Object.hasOwn(ERROR_MAPPINGS, value);
}

/** The reason of a JSON-RPC code; undefined for -32000, which many share, and for codes that nobody has defined. */
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

/** The reason that an HTTP status tells by itself, without a body that says more. */
export function getReasonByHttpStatus(status: number): ErrorReason {
  return ERROR_REASONS_BY_HTTP_STATUS[status] ?? (status < 500 ? "INVALID_PARAMS" : "INTERNAL");
}

/** `TASK_NOT_FOUND` → `TaskNotFoundError`, as A2A §3.3.2 has the names. */
export function toErrorName(reason: ErrorReason): string {
  if (reason === "PARSE_ERROR") return "JSONParseError";
  const words = reason.toLowerCase().split("_");
  return `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")}Error`;
}

/** The reason of such a name; undefined for one that is none. */
export function findReasonByErrorName(name: string | undefined): ErrorReason | undefined {
  return ERROR_REASONS.find((reason) => toErrorName(reason) === name);
}
