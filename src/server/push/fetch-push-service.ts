import type { Observer, TaskStore } from "../../engine/index.ts";
import { assemblePushService, type PushService } from "./assemble-push-service.ts";
import { createFetchWebhookSender } from "./fetch-webhook-sender.ts";
import type { PushOptions } from "./push-options.ts";
import { createWebhookValidator } from "./webhook-validation.ts";
import { WebhookUrlGuard } from "./webhook-url-guard.ts";

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
  return assemblePushService(options, store, observer, ({ allowPrivate, allowedHosts }, transportOptions) => {
    const guard = new WebhookUrlGuard({
      ...(allowPrivate === undefined ? {} : { allowPrivate }),
      ...(allowedHosts ? { allowedHosts } : {}),
    });
    return {
      deliver: createFetchWebhookSender(guard, transportOptions),
      validateWebhook: createWebhookValidator({
        findUrlViolation: (text) => guard.findUrlViolationWithoutLookup(text),
      }),
      close: () => {},
    };
  });
}
