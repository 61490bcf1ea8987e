import { randomBytes } from "node:crypto";
import type { DeliveryResult } from "../../webhooks/index.ts";

/** Request header with the random value that the receiver must return as its response body. */
export const CHALLENGE_HEADER = "x-a2a-notification-challenge";

/** Content of a request that asks a receiver to confirm its webhook. */
interface WebhookChallenge {
  readonly body: "";
  readonly headers: Record<string, string>;
  readonly expectedBody: string;
}

/**
 * Creates a challenge. `webhookHeaders` contains the token and the credentials of the webhook, so that the receiver can
 * authenticate the challenge like a notification.
 */
export function createChallenge(webhookHeaders: Readonly<Record<string, string>>): WebhookChallenge {
  const value = randomBytes(24).toString("base64url");
  return { body: "", headers: { ...webhookHeaders, [CHALLENGE_HEADER]: value }, expectedBody: value };
}

/** Reads the response to a challenge. A receiver that does not return the value has not confirmed the webhook. */
export async function checkChallengeResponse(
  response: AsyncIterable<Uint8Array>,
  expectedBody: string,
): Promise<DeliveryResult> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response) {
      bytes += chunk.length;
      if (bytes > expectedBody.length) break;
      chunks.push(chunk);
    }
  } catch {
    // An incomplete body does not confirm the webhook.
  }
  if (bytes === expectedBody.length && Buffer.concat(chunks).toString("latin1") === expectedBody)
    return { ok: true };
  const reason = `The receiver did not confirm the webhook; it must return the value of the header ${CHALLENGE_HEADER} as its response body.`;
  return { ok: false, reason };
}
