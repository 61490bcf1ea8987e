import { defineOptionNames } from "../../usage-checks/index.ts";
import {
  Outbox,
  PushConfigOperations,
  type EnginePushOptions,
  type Observer,
  type PushLimits,
  type RetryPolicy,
  type TaskStore,
} from "../../engine/index.ts";
import { createWebhookValidator } from "./webhook-validation.ts";
import { WebhookUrlGuard, type WebhookUrlGuardOptions } from "./webhook-url-guard.ts";
import { WebhookSender } from "./webhook-sender.ts";
import { PushSigner, type PushSigningOptions } from "./push-signer.ts";

/** Options for push notifications, with default values that are safe on the public internet. */
export interface PushOptions extends WebhookUrlGuardOptions, Partial<PushLimits> {
  /**
   * Private key that signs push notifications. The server publishes the public key at
   * `/.well-known/jwks.json`. Without a key, push notifications are unsigned.
   */
  readonly signing?: PushSigningOptions;
  /**
   * Whether replies omit the token and the credentials of push configurations. By default, replies contain
   * the token and the credentials. Only the caller that created a push configuration can read the
   * configuration.
   */
  readonly redactSecrets?: boolean;
  /**
   * Whether a receiver must confirm each webhook before its first notification. The server sends a POST request with
   * the header `X-A2A-Notification-Challenge`, and the receiver must return the value of the header as its response
   * body. `createWebhook` does this. Default: false, because the A2A specification defines no challenge.
   */
  readonly challenge?: boolean;
  /** Maximum duration of a delivery attempt in milliseconds. Default: 15,000. */
  readonly timeoutMs?: number;
  /** Retry policy for failed deliveries to webhooks. */
  readonly retry?: Partial<RetryPolicy>;
}

const assertKnownOptions = defineOptionNames<PushOptions>()(
  '"push" of createServer',
  "allowPrivate allowedHosts challenge maxConcurrent maxPerHost redactSecrets resolve retry signing timeoutMs",
  "maxConfigsPerCaller maxConfigsPerTask maxPerSecondPerHost maxPerSecondPerOwner",
);
const assertKnownRetryOptions = defineOptionNames<RetryPolicy>()(
  '"push.retry" of createServer',
  "giveUpAfterMs initialDelayMs maxDelayMs",
);
const assertKnownSigningOptions = defineOptionNames<PushSigningOptions>()(
  '"push.signing" of createServer',
  "alg issuer kid previousKeys privateKey",
);

/** The service that signs and sends the push notifications of a server. */
export interface PushService extends EnginePushOptions {
  readonly signer: PushSigner | undefined;
  close(graceMs: number): Promise<void>;
}

/**
 * Creates the push service of a server. Returns `undefined` if push notifications are disabled or the task
 * store cannot store webhooks.
 */
export function createPushService(
  options: PushOptions | false,
  store: TaskStore,
  observer: Observer,
): PushService | undefined {
  if (options === false || !store.pushStore) return undefined;
  assertKnownOptions(options);
  assertKnownRetryOptions(options.retry);
  assertKnownSigningOptions(options.signing);
  const {
    signing,
    redactSecrets = false,
    challenge = false,
    timeoutMs = 15_000,
    retry,
    allowPrivate,
    allowedHosts,
    resolve,
    ...limits
  } = options;
  const guard = new WebhookUrlGuard({
    ...(allowPrivate === undefined ? {} : { allowPrivate }),
    ...(allowedHosts ? { allowedHosts } : {}),
    ...(resolve ? { resolve } : {}),
  });
  const signer = signing && new PushSigner(signing);
  const sender = new WebhookSender({ guard, timeoutMs, sign: signer?.sign, challenge });
  const outbox = new Outbox({
    store: store as TaskStore & { pushStore: NonNullable<TaskStore["pushStore"]> },
    deliver: sender.deliver,
    observer,
    ...(retry ? { retry } : {}),
    limits,
  });
  return {
    outbox,
    validateWebhook: createWebhookValidator(guard),
    createConfigOperations: (dependencies) => new PushConfigOperations(dependencies),
    redactSecrets,
    signer,
    close: async (graceMs) => {
      await outbox.close(graceMs);
      sender.close();
    },
  };
}
