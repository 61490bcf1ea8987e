import { LruCache } from "../../data-structures/index.ts";
import { getWebhookOwner, type DeliveryResult, type NotificationSender } from "../../webhooks/index.ts";
import { toDeliveryResult } from "./delivery-result.ts";
import { buildNotificationHeaders, encodeNotification } from "./notification-payload.ts";
import type { PushTransportOptions } from "./assemble-push-service.ts";
import { checkChallengeResponse, createChallenge } from "./webhook-challenge.ts";
import { WebhookNotAllowedError, type WebhookUrlGuard } from "./webhook-url-guard.ts";

/** Maximum number of confirmed webhooks that the sender remembers. */
const MAX_CONFIRMED_WEBHOOKS = 10_000;

interface FetchWebhookPost {
  readonly body: string;
  readonly headers: Record<string, string>;
  /** Body that the response must have. By default, the sender ignores the body. */
  readonly expectedBody?: string;
}

/**
 * Creates a function that sends push notifications (A2A §4.3.3) with `fetch`, for runtimes whose network has no private
 * hosts. The guard checks the URLs, but no addresses.
 */
export function createFetchWebhookSender(
  guard: WebhookUrlGuard,
  { timeoutMs, challenge, sign }: PushTransportOptions,
): NotificationSender {
  const confirmed = new LruCache<true>(MAX_CONFIRMED_WEBHOOKS);
  return async (notification, signal) => {
    const { config, scope } = notification.webhook;
    const violation = guard.findUrlViolationWithoutLookup(config.url);
    if (violation !== undefined)
      return { ok: false, isPermanent: true, reason: new WebhookNotAllowedError(violation).message };
    const { body, headers } = encodeNotification(notification);
    const signature = sign ? await sign(body, notification) : {};
    const webhookHeaders = buildNotificationHeaders(notification);
    const confirmationKey = `${config.url} ${getWebhookOwner(scope)}`;
    if (challenge && !confirmed.get(confirmationKey)) {
      const confirmation = await post(config.url, createChallenge(webhookHeaders), timeoutMs, signal);
      if (!confirmation.ok) return confirmation;
      confirmed.set(confirmationKey, true);
    }
    const content = { body, headers: { ...signature, ...headers, ...webhookHeaders } };
    return await post(config.url, content, timeoutMs, signal);
  };
}

async function post(
  url: string,
  { body, headers, expectedBody }: FetchWebhookPost,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<DeliveryResult> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method: "POST",
      body,
      headers,
      redirect: "manual",
      signal: AbortSignal.any([signal, timeout]),
    });
    const result = toDeliveryResult(response.status, response.headers.get("retry-after") ?? undefined);
    if (expectedBody !== undefined && result.ok && response.body)
      return await checkChallengeResponse(response.body, expectedBody);
    await response.body?.cancel();
    return result;
  } catch (error) {
    if (timeout.aborted) return { ok: false, reason: `The receiver did not respond within ${timeoutMs} ms.` };
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, reason: `The receiver is not reachable: ${reason}.` };
  }
}
