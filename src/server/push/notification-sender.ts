import { LruCache } from "../../data-structures/index.ts";
import { getWebhookOwner, type DeliveryResult, type NotificationSender } from "../../webhooks/index.ts";
import { buildNotificationHeaders, encodeNotification } from "./notification-payload.ts";
import type { NotificationSignFunction } from "./push-signer.ts";
import { createChallenge } from "./webhook-challenge.ts";
import { WebhookNotAllowedError } from "./webhook-url-guard.ts";

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
