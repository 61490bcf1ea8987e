import { systemClock } from "../../engine/index.ts";
import type { DeliveryResult } from "../../webhooks/index.ts";
import { parseRetryAfter } from "../../wire/index.ts";

/** Converts the response of a receiver to the result of the delivery attempt. */
export function toDeliveryResult(status: number, retryAfter: string | undefined): DeliveryResult {
  if (status >= 200 && status < 300) return { ok: true };
  const retryAfterMs = parseRetryAfter(retryAfter, systemClock.now());
  const redirectNote = status >= 300 && status < 400 ? "; redirects are not followed" : "";
  return {
    ok: false,
    reason: `The receiver returned HTTP ${status}${redirectNote}.`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    // The receiver returns 410 (Gone) to unsubscribe.
    ...(status === 410 ? { isPermanent: true } : {}),
  };
}
