import type { Observer, TaskStore } from "../../engine/index.ts";
import { assemblePushService, type PushService } from "./assemble-push-service.ts";
import type { PushOptions } from "./push-options.ts";
import { createWebhookValidator } from "./webhook-validation.ts";
import { WebhookSender } from "./webhook-sender.ts";
import { WebhookUrlGuard } from "./webhook-url-guard.ts";

/** Creates the push service of a server on Node.js, Bun, or Deno, which resolves host names before it connects. */
export function createPushService(
  options: PushOptions | false,
  store: TaskStore,
  observer: Observer,
): PushService | undefined {
  return assemblePushService(options, store, observer, (pushOptions, transportOptions) => {
    const { allowPrivate, allowedHosts, resolve } = pushOptions;
    const guard = new WebhookUrlGuard({
      ...(allowPrivate === undefined ? {} : { allowPrivate }),
      ...(allowedHosts ? { allowedHosts } : {}),
      ...(resolve ? { resolve } : {}),
    });
    const sender = new WebhookSender({ guard, ...transportOptions });
    return {
      deliver: sender.deliver,
      validateWebhook: createWebhookValidator(guard),
      close: () => sender.close(),
    };
  });
}
