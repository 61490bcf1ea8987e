import {
  A2AError,
  findIdViolation,
  type FieldViolation,
  type OperationName,
  type Operations,
} from "../protocol/index.ts";

/** Parameters of an operation, with the members that can be ids. */
type OperationParams = Operations[OperationName]["params"];

/**
 * Throws INVALID_PARAMS if an id in the parameters of an operation is too long or has control characters. The
 * server generates the ids of tasks, so other operations need no exception for long ids. A store of an older
 * version of Colloquy may contain long ids of contexts and webhooks. Operations that only find a context or a
 * webhook therefore accept every id.
 */
export function assertValidIds(operation: OperationName, params: OperationParams): void {
  const violations: FieldViolation[] = [];
  const check = (field: string, id: string | undefined): void => {
    const description = id === undefined ? undefined : findIdViolation(id);
    if (description !== undefined) violations.push({ field, description });
  };
  check("tenant", params.tenant);
  if ("message" in params) {
    const { messageId, taskId, contextId, referenceTaskIds } = params.message;
    check("message.messageId", messageId);
    check("message.taskId", taskId);
    check("message.contextId", contextId);
    if (referenceTaskIds)
      for (const [index, id] of referenceTaskIds.entries()) check(`message.referenceTaskIds[${index}]`, id);
    check(
      "configuration.taskPushNotificationConfig.id",
      params.configuration?.taskPushNotificationConfig?.id,
    );
  } else {
    if ("taskId" in params) check("taskId", params.taskId);
    if ("id" in params && !OPERATIONS_ON_STORED_WEBHOOKS.has(operation)) check("id", params.id);
  }
  if (violations.length > 0) throw A2AError.invalidParams(violations);
}

/** Operations whose `id` is the id of an existing webhook. */
const OPERATIONS_ON_STORED_WEBHOOKS: ReadonlySet<OperationName> = new Set<OperationName>([
  "GetTaskPushNotificationConfig",
  "DeleteTaskPushNotificationConfig",
]);
