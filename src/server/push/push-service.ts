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

/** Options for push notifications. The defaults are safe on the public internet. */
export interface PushOptions extends WebhookUrlGuardOptions {
  /**
   * Key that signs notifications. The public key is published at `/.well-known/jwks.json`. Default:
   * notifications are unsigned.
   */
  readonly signing?: PushSigningOptions;
  /**
   * Omits the token and the credentials from push configurations in replies. Default: false, because only the
   * caller who owns a configuration can read it.
   */
  readonly redactSecrets?: boolean;
  /** Time in milliseconds after which a delivery attempt fails. Default: 15,000. */
  readonly timeoutMs?: number;
  /** Retry policy for failed deliveries. */
  readonly retry?: Partial<RetryPolicy>;
  /** Maximum number of concurrent deliveries. Default: 64. */
  readonly maxConcurrent?: number;
  /** Maximum number of concurrent deliveries to one host. Default: 8. */
  readonly maxPerHost?: number;
}

/** The service that sends the push notifications of a server. */
export interface PushService extends EnginePushOptions {
  readonly signer: PushSigner | undefined;
  close(graceMs: number): Promise<void>;
}

/**
 * Creates the push service. Returns `undefined` when push notifications are disabled, or when the store
 * cannot store webhooks.
 */
export function createPushService(
  options: PushOptions | false,
  store: TaskStore,
  observer: Observer | undefined,
): PushService | undefined {
  if (options === false || !store.pushStore) return undefined;
  const {
    signing,
    redactSecrets = false,
    timeoutMs = 15_000,
    retry,
    maxConcurrent,
    maxPerHost,
    ...guardOptions
  } = options;
  const guard = new WebhookUrlGuard(guardOptions);
  const signer = signing && new PushSigner(signing);
  const sender = new WebhookSender({ guard, timeoutMs, sign: signer?.sign });
  const outbox = new Outbox({
    store: store as TaskStore & { pushStore: NonNullable<TaskStore["pushStore"]> },
    deliver: sender.deliver,
    ...(observer ? { observer } : {}),
    ...(retry ? { retry } : {}),
    ...(maxConcurrent === undefined ? {} : { maxConcurrent }),
    ...(maxPerHost === undefined ? {} : { maxPerHost }),
  });
  return {
    outbox,
    validateWebhook: createWebhookValidator(guard),
    redactSecrets,
    signer,
    close: async (graceMs) => {
      await outbox.close(graceMs);
      sender.close();
    },
  };
}
