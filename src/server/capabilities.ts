import { createPushNotSupportedError, type AgentDescription } from "../engine/index.ts";
import { A2AError, isStreamingOperation, type OperationName } from "../protocol/index.ts";
import type { ProtocolVersion } from "../wire/index.ts";

/** Refuses an operation that the card does not offer (A2A §3.3.4), before its parameters are looked at. */
export function assertOperationSupported(
  operation: OperationName,
  { capabilities = {} }: AgentDescription,
  version: ProtocolVersion,
): void {
  if (isStreamingOperation(operation) && capabilities.streaming !== true) {
    throw new A2AError(
      "UNSUPPORTED_OPERATION",
      "This agent does not stream (its card says so); use SendMessage and GetTask.",
    );
  }
  if (PUSH_OPERATIONS.has(operation) && capabilities.pushNotifications !== true)
    throw createPushNotSupportedError();
  if (operation === "GetExtendedAgentCard" && capabilities.extendedAgentCard !== true) {
    // The only error that 0.3 has for it.
    const reason = version === "0.3" ? "EXTENDED_AGENT_CARD_NOT_CONFIGURED" : "UNSUPPORTED_OPERATION";
    throw new A2AError(reason, "This agent has no extended card; its public card says all.");
  }
}

const PUSH_OPERATIONS: ReadonlySet<OperationName> = new Set([
  "CreateTaskPushNotificationConfig",
  "GetTaskPushNotificationConfig",
  "ListTaskPushNotificationConfigs",
  "DeleteTaskPushNotificationConfig",
]);
