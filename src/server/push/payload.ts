import type { Notification } from "../../engine/index.ts";

/** A notification as it is posted. */
export interface Payload {
  readonly body: string;
  readonly headers: Record<string, string>;
}

/** Notifications in the version that their webhook was registered in. */
export function encodeNotification({ event }: Notification): Payload {
  // A2A §4.3.3: a StreamResponse, which is how the log has it.
  return { body: event.json, headers: { "content-type": "application/a2a+json", "a2a-version": "1.0" } };
}
