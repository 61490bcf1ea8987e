import type { MessageCard, ControlCard } from "../../cards/index.ts";
import type { JsonObject } from "../../protocol/index.ts";

/**
 * Shares of the grace period: the part that downstream roles get, and the part after which the role itself is
 * abandoned.
 */
const DOWNSTREAM_GRACE_SHARE = 0.5;
const OWN_GRACE_SHARE = 0.8;

/**
 * Returns the grace periods of downstream roles and of the role itself. Each of the two periods is shorter
 * than that of the requester, so that each hop can reply in time.
 */
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

/**
 * Returns the parameters of the control card that stopped the work, or `cancelled` as the reason when there
 * is no card.
 */
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

/** The abort reason when the server closes. */
export class ServerClosingError extends Error {
  override readonly name = "AbortError";
}
