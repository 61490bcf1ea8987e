import type { WebhookNotification } from "../../webhooks/index.ts";
import * as v0_3 from "../../wire/v0_3/index.ts";

/** The request body and content headers of a push notification. */
interface NotificationPayload {
  readonly body: string;
  readonly headers: Record<string, string>;
}

/**
 * Encodes a push notification. The payload has the A2A version of the request that registered the webhook.
 */
export function encodeNotification({ webhook, event, task }: WebhookNotification): NotificationPayload {
  if (webhook.version === "0.3" && task) {
    const body = JSON.stringify(v0_3.toTask03(task));
    return { body, headers: { "content-type": "application/json" } };
  }
  // The task log stores each event as a StreamResponse, which is the body that A2A §4.3.3 requires.
  return { body: event.jsonText, headers: { "content-type": "application/a2a+json", "a2a-version": "1.0" } };
}

/**
 * Returns the headers with the notification id and with the token and credentials from the push
 * configuration.
 */
export function buildNotificationHeaders({
  webhook: { taskId, config },
  event,
}: WebhookNotification): Record<string, string> {
  const { token, authentication } = config;
  const { scheme = "", credentials } = authentication ?? {};
  return {
    // A receiver uses this id to recognize repeated notifications.
    "x-a2a-notification-id": `${encodeURIComponent(taskId)}:${event.seq}`,
    ...(token ? { "x-a2a-notification-token": token } : {}),
    ...(credentials ? { authorization: `${scheme} ${credentials}` } : {}),
  };
}
