import {
  Outbox,
  type EnginePushOptions,
  type Observer,
  type RetryPolicy,
  type TaskStore,
} from "../../engine/index.ts";
import { createWebhookValidator } from "./webhook-validation.ts";
import { WebhookUrlGuard, type WebhookUrlGuardOptions } from "./webhook-url-guard.ts";
import { WebhookSender } from "./webhook-sender.ts";
import { PushSigner, type PushSigningOptions } from "./push-signer.ts";

/** How push notifications are sent. Every member has a default that is safe on the public internet. */
export interface PushOptions extends WebhookUrlGuardOptions {
  /** Sign notifications with this key; `/.well-known/jwks.json` has what they are verified with. Default: unsigned. */
  readonly signing?: PushSigningOptions;
  /** Answer push configurations without their token and credentials. Default false: their owner may read them. */
  readonly redactSecrets?: boolean;
  /** How long an attempt may take, in milliseconds. Default 15,000. */
  readonly timeoutMs?: number;
  readonly retry?: Partial<RetryPolicy>;
  /** Deliveries under way at once. Default 64. */
  readonly maxConcurrent?: number;
  /** Deliveries under way at once to one host. Default 8. */
  readonly maxPerHost?: number;
}

/** All that sends a server's push notifications. */
export interface PushService extends EnginePushOptions {
  readonly signer: PushSigner | undefined;
  close(graceMs: number): Promise<void>;
}

/** Undefined where there are no push notifications: they are not wanted, or the store can not keep their webhooks. */
export function createPushService(
  options: PushOptions | false,
  store: TaskStore,
  observer: Observer | undefined,
): PushService | undefined {
  if (options === false || !store.pushStore) return undefined;
  const {
    signing: sign,
    redactSecrets: redact = false,
    timeoutMs = 15_000,
    retry,
    maxConcurrent: atOnce,
    maxPerHost: perHost,
    ...rules
  } = options;
  const guard = new WebhookUrlGuard(rules);
  const signer = sign && new PushSigner(sign);
  const sender = new WebhookSender({ guard, timeoutMs, sign: signer?.sign });
  const outbox = new Outbox({
    store: store as TaskStore & { pushStore: NonNullable<TaskStore["pushStore"]> },
    deliver: sender.deliver,
    ...(observer ? { observer } : {}),
    ...(retry ? { retry } : {}),
    ...(atOnce === undefined ? {} : { maxConcurrent: atOnce }),
    ...(perHost === undefined ? {} : { maxPerHost: perHost }),
  });
  return {
    outbox,
    validateWebhook: createWebhookValidator(guard),
    redactSecrets: redact,
    signer,
    close: async (graceMs) => {
      await outbox.close(graceMs);
      sender.close();
    },
  };
}
