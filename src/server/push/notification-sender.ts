import * as v0_3 from "../../wire/v0_3/index.ts";
import { LruCache } from "../../base/data-structures/index.ts";
import {
  getWebhookOwner,
  type DeliveryResult,
  type NotificationSender,
  type WebhookNotification,
} from "../../webhooks/index.ts";
import type { NotificationSignFunction } from "./push-signer.ts";
import { WebhookNotAllowedError } from "./webhook-url-guard.ts";
import { randomBytes } from "node:crypto";
import { systemClock } from "../../engine/index.ts";
import { parseRetryAfter } from "../../protocol/index.ts";

/** A request to a webhook. */
export interface WebhookPost {
  readonly url: string;
  /** Owner of the webhook, whose share of DNS lookups the request uses. */
  readonly owner: string;
  readonly body: string;
  readonly headers: Record<string, string>;
  /** Body that the response must have. By default, the sender ignores the body. */
  readonly expectedBody?: string;
}

interface NotificationSenderOptions {
  readonly sign?: NotificationSignFunction | undefined;
  /** Whether a receiver must confirm a webhook before its first notification. Default: false. */
  readonly challenge?: boolean;
  /** Returns the problem with the URL of a webhook. The rules may have changed since the registration. */
  readonly findUrlViolation: (url: string) => string | undefined;
  readonly post: (post: WebhookPost, signal: AbortSignal) => Promise<DeliveryResult>;
}

/** Maximum number of confirmed webhooks that the sender remembers. */
const MAX_CONFIRMED_WEBHOOKS = 10_000;

/** Creates a function that signs and sends push notifications (A2A §4.3.3). */
export function createNotificationSender({
  sign,
  challenge = false,
  findUrlViolation,
  post,
}: NotificationSenderOptions): NotificationSender {
  /** Owners and URLs of the webhooks that their receivers have confirmed. */
  const confirmed = new LruCache<true>(MAX_CONFIRMED_WEBHOOKS);
  return async (notification, signal) => {
    const { config, scope } = notification.webhook;
    const { url } = config;
    const violation = findUrlViolation(url);
    if (violation !== undefined)
      return { ok: false, isPermanent: true, reason: new WebhookNotAllowedError(violation).message };
    const owner = getWebhookOwner(scope);
    const { body, headers } = encodeNotification(notification);
    const signature = sign ? await sign(body, notification) : {};
    const webhookHeaders = buildNotificationHeaders(notification);
    if (challenge && !confirmed.get(`${url} ${owner}`)) {
      const confirmation = await post({ url, owner, ...createChallenge(webhookHeaders) }, signal);
      if (!confirmation.ok) return confirmation;
      confirmed.set(`${url} ${owner}`, true);
    }
    return await post({ url, owner, body, headers: { ...signature, ...headers, ...webhookHeaders } }, signal);
  };
}

/** The request body and content headers of a push notification. */
interface NotificationPayload {
  readonly body: string;
  readonly headers: Record<string, string>;
}

/**
 * Encodes a push notification. The payload has the A2A version of the request that registered the webhook.
 */
function encodeNotification({ webhook, event, task }: WebhookNotification): NotificationPayload {
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
function buildNotificationHeaders({
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

/** Request header with the random value that the receiver must return as its response body. */
const CHALLENGE_HEADER = "x-a2a-notification-challenge";

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
function createChallenge(webhookHeaders: Readonly<Record<string, string>>): WebhookChallenge {
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
