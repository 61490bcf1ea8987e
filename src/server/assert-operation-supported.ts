import { createPushNotSupportedError, type AgentDescription } from "../engine/index.ts";
import { A2AError, isStreamingOperation, type OperationName } from "../protocol/index.ts";
import type { ProtocolVersion } from "../wire/index.ts";

/**
 * Throws an error if an operation requires a capability that the agent card does not declare (A2A §3.3.4).
 * The server checks capabilities before it decodes the parameters of an operation.
 */
export function assertOperationSupported(
  operation: OperationName,
  { capabilities = {} }: AgentDescription,
  version: ProtocolVersion,
): void {
  if (isStreamingOperation(operation) && capabilities.streaming !== true) {
    throw new A2AError(
      "UNSUPPORTED_OPERATION",
      "This agent does not support streaming; use SendMessage and GetTask.",
    );
  }
  if (PUSH_OPERATIONS.has(operation) && capabilities.pushNotifications !== true)
    throw createPushNotSupportedError();
  if (operation === "GetExtendedAgentCard" && capabilities.extendedAgentCard !== true) {
    // 0.3 defines only this error for a missing extended card.
    const reason = version === "0.3" ? "EXTENDED_AGENT_CARD_NOT_CONFIGURED" : "UNSUPPORTED_OPERATION";
    throw new A2AError(reason, "This agent has no extended card; use its public card.");
  }
}

const PUSH_OPERATIONS: ReadonlySet<OperationName> = new Set([
  "CreateTaskPushNotificationConfig",
  "GetTaskPushNotificationConfig",
  "ListTaskPushNotificationConfigs",
  "DeleteTaskPushNotificationConfig",
]);
