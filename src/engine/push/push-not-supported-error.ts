import { A2AError } from "../../protocol/index.ts";

export function createPushNotSupportedError(): A2AError {
  return new A2AError(
    "PUSH_NOTIFICATION_NOT_SUPPORTED",
    "This agent does not support push notifications; use SubscribeToTask or GetTask.",
  );
}
