import type { A2AError, ErrorReason, JsonObject, OperationName } from "../protocol/index.ts";
import { fromErrorDetails, toErrorDetails } from "./error-details.ts";
import {
  type GrpcStatusName,
  findReasonByErrorName,
  type SpecRevision,
  getErrorStatus,
} from "./error-mappings.ts";

/** What a gRPC call ends with when it fails: `google.rpc.Status`, its details as ProtoJSON (A2A §10.6). */
export interface GrpcError {
  readonly status: GrpcStatusName;
  readonly message: string;
  readonly details: readonly JsonObject[];
}

export function toGrpcError(error: A2AError, revision: SpecRevision): GrpcError {
  return {
    status: getErrorStatus(error.reason, revision).grpc,
    message: error.message,
    details: toErrorDetails(error),
  };
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
  const named = findReasonByErrorName(name);
  return fromErrorDetails(details, {
    message: (named ? rest : message) || `The agent answered gRPC status ${status}.`,
    fallbackReason:
      named ??
      ERROR_REASONS_BY_OPERATION[operation]?.[status] ??
      ERROR_REASONS_BY_GRPC_STATUS[status] ??
      "INTERNAL",
  });
}

/** What a status most likely means by itself: 0.3 sends no more, and gRPC libraries have failures of their own. */
const ERROR_REASONS_BY_GRPC_STATUS: Readonly<Record<string, ErrorReason>> = {
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

const PUSH_CONFIG_ERROR_REASONS: Readonly<Record<string, ErrorReason>> = {
  UNIMPLEMENTED: "PUSH_NOTIFICATION_NOT_SUPPORTED",
};

/** Where the operation says more. */
const ERROR_REASONS_BY_OPERATION: Readonly<
  Partial<Record<OperationName, Readonly<Record<string, ErrorReason>>>>
> = {
  CancelTask: { FAILED_PRECONDITION: "TASK_NOT_CANCELABLE" },
  GetExtendedAgentCard: { FAILED_PRECONDITION: "EXTENDED_AGENT_CARD_NOT_CONFIGURED" },
  CreateTaskPushNotificationConfig: PUSH_CONFIG_ERROR_REASONS,
  GetTaskPushNotificationConfig: PUSH_CONFIG_ERROR_REASONS,
  ListTaskPushNotificationConfigs: PUSH_CONFIG_ERROR_REASONS,
  DeleteTaskPushNotificationConfig: PUSH_CONFIG_ERROR_REASONS,
};
