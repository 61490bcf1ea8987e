import type { PushLimits, RetryPolicy } from "../../webhooks/index.ts";
import { defineOptionNames } from "../../base/usage-checks/index.ts";
import type { PushSigningOptions } from "./push-signer.ts";
import type { WebhookUrlGuardOptions } from "./webhook-url-guard.ts";

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

/** Throws an error if an option is unknown. */
export function assertKnownPushOptions(options: PushOptions): void {
  assertKnownOptions(options);
  assertKnownRetryOptions(options.retry);
  assertKnownSigningOptions(options.signing);
}
