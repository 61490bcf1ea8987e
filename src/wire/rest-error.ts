import type { A2AError, ErrorReason, JsonObject } from "../protocol/index.ts";
import { fromDetails, isObject, toDetails } from "./error-details.ts";
import {
  type GrpcStatus,
  isReason,
  reasonOfCode,
  reasonOfHttp,
  reasonOfName,
  type SpecRevision,
  statusOf,
} from "./errors.ts";

/** `google.rpc.Status` as JSON (A2A §11.6). */
export interface RestError {
  status: number;
  body: { error: { code: number; status: GrpcStatus; message: string; details: JsonObject[] } };
}

export function toRestError(error: A2AError, revision: SpecRevision): RestError {
  const { http, grpc } = statusOf(error.reason, revision);
  const details = toDetails(error);
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
  return fromDetails(error.details, {
    message: typeof message === "string" ? message : `The agent answered HTTP status ${status}.`,
    fallback:
      reasonOfCode(error.code) ??
      reasonOfProblem(error.type) ??
      reasonOfGrpc(error.status) ??
      // All that Python's 0.3 says; without it, a task that is not there would be a path that is not.
      (status === 404 && message === "Task not found" ? "TASK_NOT_FOUND" : reasonOfHttp(status)),
  });
}

/** `https://a2a-protocol.org/errors/task-not-found` → `TASK_NOT_FOUND`, and so `TaskNotFoundError` of Python's 0.3. */
function reasonOfProblem(type: unknown): ErrorReason | undefined {
  if (typeof type !== "string") return undefined;
  const named = reasonOfName(type);
  if (named) return named;
  const name = type
    .slice(type.lastIndexOf("/") + 1)
    .replaceAll("-", "_")
    .toUpperCase();
  return isReason(name) ? name : undefined;
}

/** Only the statuses that mean one thing; FAILED_PRECONDITION, say, stands for five reasons. */
const OF_GRPC: Record<string, ErrorReason> = {
  UNAUTHENTICATED: "UNAUTHENTICATED",
  PERMISSION_DENIED: "PERMISSION_DENIED",
  UNAVAILABLE: "UNAVAILABLE",
};

function reasonOfGrpc(status: unknown): ErrorReason | undefined {
  return typeof status === "string" && Object.hasOwn(OF_GRPC, status) ? OF_GRPC[status] : undefined;
}
