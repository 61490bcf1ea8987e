import type { WebhookNotification } from "../../engine/index.ts";
import { v0_3 } from "../../wire/index.ts";

/** A notification as it is posted. */
export interface NotificationPayload {
  readonly body: string;
  readonly headers: Record<string, string>;
}

/** Notifications in the version that their webhook was registered in, whatever binding that came by. */
export function encodeNotification({ webhook, event, task }: WebhookNotification): NotificationPayload {
  if (webhook.version === "0.3" && task) {
    const body = JSON.stringify(v0_3.toTask03(task));
    return { body, headers: { "content-type": "application/json" } };
  }
  // A2A §4.3.3: a StreamResponse, which is how the log has it.
  return { body: event.json, headers: { "content-type": "application/a2a+json", "a2a-version": "1.0" } };
}
