import type { SendMessageRequest } from "../../protocol/index.ts";
import type { ServiceParameters } from "../service-parameters.ts";
import type { WebhookRegistration } from "./push-store.ts";

/** A2A version of requests that do not specify a version. */
export const DEFAULT_REQUEST_A2A_VERSION = "1.0";

/**
 * Returns the webhook that a message registers. If the webhook has no id, its id is the task's id. A client
 * that sends a webhook with each message therefore registers only one webhook.
 */
export function extractMessageWebhookRegistration(
  { configuration }: SendMessageRequest,
  taskId: string,
  { version = DEFAULT_REQUEST_A2A_VERSION }: ServiceParameters,
): WebhookRegistration | undefined {
  const config = configuration?.taskPushNotificationConfig;
  return config && { config: { ...config, id: config.id || taskId, taskId }, version };
}
