import type { A2AError, ErrorReason, JsonObject, OperationName } from "../protocol/index.ts";
import { fromDetails, toDetails } from "./error-details.ts";
import { type GrpcStatus, reasonOfName, type SpecRevision, statusOf } from "./errors.ts";

/** What a gRPC call ends with when it fails: `google.rpc.Status`, its details as ProtoJSON (A2A §10.6). */
export interface GrpcError {
  readonly status: GrpcStatus;
  readonly message: string;
  readonly details: readonly JsonObject[];
}

export function toGrpcError(error: A2AError, revision: SpecRevision): GrpcError {
  return { status: statusOf(error.reason, revision).grpc, message: error.message, details: toDetails(error) };
}

/**
 * The error that a call of an operation failed with, at whatever server; `status` is a name of gRPC's, of which it has
 * more than A2A.
 */
export function fromGrpcError(
  operation: OperationName,
  status: string,
  message: string,
  details: readonly JsonObject[] = [],
): A2AError {
  // Some implementations of 0.3 say the error's name in front of its message, and only there.
  const [, name, rest = ""] = /^(\w+Error): ([^]*)$/.exec(message) ?? [];
  const named = reasonOfName(name);
  return fromDetails(details, {
    message: (named ? rest : message) || `The agent answered gRPC status ${status}.`,
    fallback: named ?? OF_OPERATION[operation]?.[status] ?? OF_GRPC[status] ?? "INTERNAL",
  });
}

/** What a status most likely means by itself: 0.3 sends no more, and gRPC libraries have failures of their own. */
const OF_GRPC: Readonly<Record<string, ErrorReason>> = {
  // In gRPC it is never the path that is not found, which leaves the task.
  NOT_FOUND: "TASK_NOT_FOUND",
  INVALID_ARGUMENT: "INVALID_PARAMS",
  OUT_OF_RANGE: "INVALID_PARAMS",
  FAILED_PRECONDITION: "UNSUPPORTED_OPERATION",
  UNIMPLEMENTED: "UNSUPPORTED_OPERATION",
  UNAUTHENTICATED: "UNAUTHENTICATED",
  PERMISSION_DENIED: "PERMISSION_DENIED",
  RESOURCE_EXHAUSTED: "RESOURCE_EXHAUSTED",
  UNAVAILABLE: "UNAVAILABLE",
  DEADLINE_EXCEEDED: "UNAVAILABLE",
  CANCELLED: "UNAVAILABLE",
  ABORTED: "UNAVAILABLE",
};

const NO_PUSH: Readonly<Record<string, ErrorReason>> = { UNIMPLEMENTED: "PUSH_NOTIFICATION_NOT_SUPPORTED" };

/** Where the operation says more. */
const OF_OPERATION: Readonly<Partial<Record<OperationName, Readonly<Record<string, ErrorReason>>>>> = {
  CancelTask: { FAILED_PRECONDITION: "TASK_NOT_CANCELABLE" },
  GetExtendedAgentCard: { FAILED_PRECONDITION: "EXTENDED_AGENT_CARD_NOT_CONFIGURED" },
  CreateTaskPushNotificationConfig: NO_PUSH,
  GetTaskPushNotificationConfig: NO_PUSH,
  ListTaskPushNotificationConfigs: NO_PUSH,
  DeleteTaskPushNotificationConfig: NO_PUSH,
};
