import type { Observer, TaskStore } from "../../engine/index.ts";
import { assemblePushService, type PushService } from "./assemble-push-service.ts";
import type { PushOptions } from "./push-options.ts";
import { createWebhookValidator } from "./webhook-validation.ts";
import { WebhookSender } from "./webhook-sender.ts";

/** Creates the push service of a server on Node.js, Bun, or Deno, which resolves host names before it connects. */
export function createPushService(
  options: PushOptions | false,
  store: TaskStore,
  observer: Observer,
): PushService | undefined {
  return assemblePushService(options, store, observer, (guard, transportOptions) => {
    const sender = new WebhookSender({ guard, ...transportOptions });
    return {
      deliver: sender.deliver,
      validateWebhook: createWebhookValidator(guard),
      close: () => sender.close(),
    };
  });
}
