import { type A2AError, type ErrorReason, isObject, type JsonObject } from "../protocol/index.ts";
import { fromErrorDetails, toErrorDetails } from "./error-details.ts";
import {
  type GrpcStatusName,
  isErrorReason,
  findReasonByJsonRpcCode,
  getReasonByHttpStatus,
  findReasonByErrorName,
  type SpecPatchVersion,
  getHttpAndGrpcErrorStatus,
} from "./error-mappings.ts";

/**
 * HTTP status and body of an error response. The response body is a `google.rpc.Status` as JSON (A2A
 * §11.6).
 */
interface RestError {
  status: number;
  body: { error: { code: number; status: GrpcStatusName; message: string; details: JsonObject[] } };
}

/** Converts an error to the HTTP response that a revision of A2A defines. */
export function toRestError(error: A2AError, revision: SpecPatchVersion): RestError {
  const { http, grpc } = getHttpAndGrpcErrorStatus(error.reason, revision);
  const details = toErrorDetails(error);
  return { status: http, body: { error: { code: http, status: grpc, message: error.message, details } } };
}

/**
 * Converts an HTTP error response from any server to an error. The body may be a `google.rpc.Status`,
 * problem+json (from early texts of A2A 1.0), or the `{code, message}` object of 0.3. If the response has no
 * body, the HTTP status determines the error reason.
 */
export function fromRestError(status: number, body: unknown): A2AError {
  const json = isObject(body) ? body : {};
  const error = isObject(json.error) ? json.error : json;
  const message = [error.message, error.detail, error.title].find(
    (text) => typeof text === "string" && text !== "",
  );
  return fromErrorDetails(error.details, {
    message: typeof message === "string" ? message : `The agent returned HTTP status ${status}.`,
    code: typeof error.code === "number" ? error.code : status,
    fallbackReason:
      findReasonByJsonRpcCode(error.code) ??
      findReasonByProblemType(error.type) ??
      findReasonByGrpcStatus(error.status) ??
      // Python servers of 0.3 send only this message. Without this check, a missing task would look like an
      // unknown path.
      (status === 404 && message === "Task not found" ? "TASK_NOT_FOUND" : getReasonByHttpStatus(status)),
  });
}

/**
 * Returns the error reason of a problem type. The problem type
 * `https://a2a-protocol.org/errors/task-not-found` and the type `TaskNotFoundError` of Python's 0.3 servers
 * both map to the reason `TASK_NOT_FOUND`.
 */
function findReasonByProblemType(type: unknown): ErrorReason | undefined {
  if (typeof type !== "string") return undefined;
  const reason = findReasonByErrorName(type);
  if (reason) return reason;
  const name = type
    .slice(type.lastIndexOf("/") + 1)
    .replaceAll("-", "_")
    .toUpperCase();
  return isErrorReason(name) ? name : undefined;
}

/**
 * Error reasons by gRPC status, for statuses with exactly one error reason. For example,
 * `FAILED_PRECONDITION` has no entry, because five error reasons have this gRPC status.
 */
const ERROR_REASONS_BY_GRPC_STATUS: Record<string, ErrorReason> = {
  UNAUTHENTICATED: "UNAUTHENTICATED",
  PERMISSION_DENIED: "PERMISSION_DENIED",
  UNAVAILABLE: "UNAVAILABLE",
};

function findReasonByGrpcStatus(status: unknown): ErrorReason | undefined {
  return typeof status === "string" && Object.hasOwn(ERROR_REASONS_BY_GRPC_STATUS, status)
    ? ERROR_REASONS_BY_GRPC_STATUS[status]
    : undefined;
}
