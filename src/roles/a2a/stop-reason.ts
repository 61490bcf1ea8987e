import type { MessageCard, ControlCard } from "../../cards/index.ts";
import type { JsonObject } from "../../protocol/index.ts";

/** Of the time that a role is given to stop, what it keeps for whom it has set to work, and what it takes for itself. */
const DOWNSTREAM_GRACE_SHARE = 0.5;
const OWN_GRACE_SHARE = 0.8;

/** How long others may take to stop, and how long the role itself: less than whoever waits for it, at every hop. */
export function computeGracePeriods(
  { graceMs }: { readonly graceMs: number },
  parameters: JsonObject,
): { readonly forOthersMs: number; readonly forItselfMs: number } {
  const { grace_ms } = parameters;
  if (typeof grace_ms !== "number" || !(grace_ms >= 0)) {
    return { forOthersMs: graceMs, forItselfMs: graceMs * OWN_GRACE_SHARE };
  }
  const availableMs = Math.min(graceMs, grace_ms);
  return { forOthersMs: availableMs * DOWNSTREAM_GRACE_SHARE, forItselfMs: availableMs * OWN_GRACE_SHARE };
}

/** What the reason of a signal says of why: the parameters of a control card, else that somebody cancelled. */
export function getStopParameters(reason: unknown): JsonObject {
  return isControlCard(reason) ? (reason.metadata.parameters ?? {}) : { reason: "cancelled" };
}

export function isTimeout({ reason }: JsonObject): boolean {
  return reason === "timeout";
}

export function isControlCard(value: unknown): value is ControlCard {
  if (typeof value !== "object" || value === null) return false;
  return "message_type" in value && (value as MessageCard).message_type === "control";
}

/** Why work stops when its server does. */
export class ServerClosingError extends Error {
  override readonly name = "AbortError";
}
