import type { Observer, TaskStore } from "../../engine/index.ts";
import type { DeliveryResult } from "../../webhooks/index.ts";
import { assemblePushService, type PushService } from "./assemble-push-service.ts";
import {
  toDeliveryResult,
  createNotificationSender,
  type WebhookPost,
  checkChallengeResponse,
} from "./notification-sender.ts";
import type { PushOptions } from "../server-options.ts";
import { createWebhookValidator } from "./webhook-url-guard.ts";

/**
 * Creates the push service of a server at Cloudflare, which sends with `fetch`. `fetch` reaches no private network, so the
 * service does not resolve host names. It refuses URLs with private addresses and unlisted hosts.
 */
export function createFetchPushService(
  options: PushOptions | false,
  store: TaskStore,
  observer: Observer,
): PushService | undefined {
  if (options !== false && options.resolve)
    throw new Error('The option "push.resolve" requires Node.js, Bun, or Deno; omit the option.');
  return assemblePushService(options, store, observer, (guard, transportOptions) => {
    const findUrlViolation = (url: string): string | undefined => guard.findUrlViolationWithoutLookup(url);
    return {
      deliver: createNotificationSender({
        ...transportOptions,
        findUrlViolation,
        post: (post, signal) => postWithFetch(post, transportOptions.timeoutMs, signal),
      }),
      validateWebhook: createWebhookValidator({ findUrlViolation }),
      close: () => {},
    };
  });
}

async function postWithFetch(
  { url, body, headers, expectedBody }: WebhookPost,
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
