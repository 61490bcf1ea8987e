import type { A2AError, ErrorReason, JsonObject, OperationName } from "../protocol/index.ts";
import { fromErrorDetails, toErrorDetails } from "./error-details.ts";
import {
  type GrpcStatusName,
  findReasonByErrorName,
  type SpecPatchVersion,
  getHttpAndGrpcErrorStatus,
} from "./error-mappings.ts";

/** The `google.rpc.Status` of a failed gRPC call, with the error details as ProtoJSON (A2A §10.6). */
export interface GrpcError {
  readonly status: GrpcStatusName;
  readonly message: string;
  readonly details: readonly JsonObject[];
}

/** Converts an error to the gRPC status that a revision of A2A defines. */
export function toGrpcError(error: A2AError, revision: SpecPatchVersion): GrpcError {
  return {
    status: getHttpAndGrpcErrorStatus(error.reason, revision).grpc,
    message: error.message,
    details: toErrorDetails(error),
  };
}

/**
 * Converts the status of a failed gRPC call to an error. The parameter `status` can be the name of any gRPC
 * status, including those that A2A does not use. The parameter `code` is the number of the status.
 */
export function fromGrpcError(
  operation: OperationName,
  status: string,
  message: string,
  details: readonly JsonObject[] = [],
  code?: number,
): A2AError {
  // Some 0.3 implementations send the error name only as a prefix of the message.
  const [, name, rest = ""] = /^(\w+Error): ([^]*)$/.exec(message) ?? [];
  const reason = findReasonByErrorName(name);
  return fromErrorDetails(details, {
    message: (reason ? rest : message) || `The agent returned gRPC status ${status}.`,
    code,
    fallbackReason:
      reason ??
      ERROR_REASONS_BY_OPERATION[operation]?.[status] ??
      ERROR_REASONS_BY_GRPC_STATUS[status] ??
      "INTERNAL",
  });
}

/**
 * The most likely error reason for each gRPC status, if the status has no details. A2A 0.3 servers send no
 * error details. Errors that a gRPC library creates also have no details.
 */
const ERROR_REASONS_BY_GRPC_STATUS: Readonly<Record<string, ErrorReason>> = {
  // gRPC has no paths, so the task is what the server did not find.
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

/** Error reasons for gRPC statuses whose meaning depends on the operation. */
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
