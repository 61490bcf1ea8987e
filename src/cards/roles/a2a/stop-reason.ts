import { findCardInCancelMetadata, type MessageCard, type ControlCard } from "../../index.ts";
import type { JsonObject } from "../../../protocol/index.ts";

/** Fraction of the requester's grace period that a role passes on to downstream roles. */
const DOWNSTREAM_GRACE_PERIOD_SHARE = 0.5;
const OWN_GRACE_PERIOD_SHARE = 0.8;

/**
 * Returns the grace periods for downstream roles and for the role itself. Both are shorter than the
 * requester's grace period, so that each role can reply in time.
 */
export function computeGracePeriods(
  { graceMs }: { readonly graceMs: number },
  parameters: JsonObject,
): { readonly forOthersMs: number; readonly forItselfMs: number } {
  const { grace_ms } = parameters;
  if (typeof grace_ms !== "number" || !(grace_ms >= 0)) {
    return { forOthersMs: graceMs, forItselfMs: graceMs * OWN_GRACE_PERIOD_SHARE };
  }
  const availableMs = Math.min(graceMs, grace_ms);
  return {
    forOthersMs: availableMs * DOWNSTREAM_GRACE_PERIOD_SHARE,
    forItselfMs: availableMs * OWN_GRACE_PERIOD_SHARE,
  };
}

/**
 * Returns the parameters of the control card that stopped the work, or the reason `cancelled` if no control
 * card stopped it.
 */
export function getStopCardParameters(reason: unknown): JsonObject {
  return isControlCard(reason) ? (reason.metadata.parameters ?? {}) : { reason: "cancelled" };
}

export function isStopCausedByTimeout({ reason }: JsonObject): boolean {
  return reason === "timeout";
}

export function isControlCard(value: unknown): value is ControlCard {
  if (typeof value !== "object" || value === null) return false;
  return "message_type" in value && (value as MessageCard).message_type === "control";
}

/** Abort reason for work that ends because the server closes, and that no later process continues. */
export class ServerClosingError extends Error {
  override readonly name = "AbortError";
}

/** Abort reason for an attempt that ends before its task. A later attempt or turn continues the work. */
export class TurnContinuesError extends Error {
  override readonly name = "AbortError";
}

/** Returns the abort reason for a cancellation with this metadata: the control card, if the metadata contains one. */
export function toCancellationAbortReason(cancelMetadata: JsonObject): unknown {
  const card = findCardInCancelMetadata(cancelMetadata);
  return isControlCard(card) ? card : new DOMException("The task was cancelled.", "AbortError");
}
