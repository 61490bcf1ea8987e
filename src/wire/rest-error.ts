import type { A2AError, ErrorReason, JsonObject } from "../protocol/index.ts";
import { fromErrorDetails, isObject, toErrorDetails } from "./error-details.ts";
import {
  type GrpcStatusName,
  isErrorReason,
  findReasonByJsonRpcCode,
  getReasonByHttpStatus,
  findReasonByErrorName,
  type SpecRevision,
  getErrorStatus,
} from "./error-mappings.ts";

/** `google.rpc.Status` as JSON (A2A §11.6). */
export interface RestError {
  status: number;
  body: { error: { code: number; status: GrpcStatusName; message: string; details: JsonObject[] } };
}

export function toRestError(error: A2AError, revision: SpecRevision): RestError {
  const { http, grpc } = getErrorStatus(error.reason, revision);
  const details = toErrorDetails(error);
  return { status: http, body: { error: { code: http, status: grpc, message: error.message, details } } };
}

/**
 * The error of a response, of whatever server: `google.rpc.Status`, problem+json (which early texts of 1.0 show),
 * or the `{code, message}` of 0.3. A status alone is enough.
 */
export function fromRestError(status: number, body: unknown): A2AError {
  const json = isObject(body) ? body : {};
  const error = isObject(json.error) ? json.error : json;
  const message = [error.message, error.detail, error.title].find(
    (text) => typeof text === "string" && text !== "",
  );
  return fromErrorDetails(error.details, {
    message: typeof message === "string" ? message : `The agent answered HTTP status ${status}.`,
    fallbackReason:
      findReasonByJsonRpcCode(error.code) ??
      findReasonByProblemType(error.type) ??
      findReasonByGrpcStatus(error.status) ??
      // All that Python's 0.3 says; without it, a task that is not there would be a path that is not.
      (status === 404 && message === "Task not found" ? "TASK_NOT_FOUND" : getReasonByHttpStatus(status)),
  });
}

/** `https://a2a-protocol.org/errors/task-not-found` → `TASK_NOT_FOUND`, and so `TaskNotFoundError` of Python's 0.3. */
function findReasonByProblemType(type: unknown): ErrorReason | undefined {
  if (typeof type !== "string") return undefined;
  const named = findReasonByErrorName(type);
  if (named) return named;
  const name = type
    .slice(type.lastIndexOf("/") + 1)
    .replaceAll("-", "_")
    .toUpperCase();
  return isErrorReason(name) ? name : undefined;
}

/** Only the statuses that mean one thing; FAILED_PRECONDITION, say, stands for five reasons. */
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
