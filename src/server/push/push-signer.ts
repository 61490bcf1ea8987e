import { createHash, randomUUID } from "node:crypto";
import { systemClock } from "../../engine/index.ts";
import type { WebhookNotification } from "../../webhooks/index.ts";
import {
  importSigningKeyPair,
  buildJwks,
  signJwt,
  type JSONWebKeySet,
  type SigningKeyPair,
  type SigningKeyPairOptions,
} from "../../wire/keys/index.ts";

/**
 * Options for signing push notifications, in addition to the key in {@link SigningKeyPairOptions}. Receivers can then
 * verify the sender.
 */
export interface PushSigningOptions extends SigningKeyPairOptions {
  /** Issuer in the `iss` claim of push notification signatures. Default: none. */
  readonly issuer?: string;
  /**
   * Former signing keys. The server still publishes the former public keys. Receivers can then verify earlier
   * push notifications. Default: none.
   */
  readonly previousKeys?: readonly SigningKeyPairOptions[];
}

/** Function that signs the body of a push notification, and returns the HTTP headers with the signature. */
export type NotificationSignFunction = (
  body: string,
  notification: WebhookNotification,
) => Promise<Record<string, string>>;

/**
 * Validity period of a push notification's signature, in seconds. The server signs the notification again for
 * each delivery attempt.
 */
const SIGNATURE_LIFETIME_SECONDS = 300;

/** Signs push notifications, and provides the public keys for receivers. */
export class PushSigner {
  readonly #options: PushSigningOptions;
  #signer: Promise<SigningKeyPair> | undefined;

  constructor(options: PushSigningOptions) {
    this.#options = options;
  }

  /**
   * Returns a header with a JWT that contains the SHA-256 digest of the request body. If the push
   * configuration contains no credentials, the header `Authorization` also contains the JWT. Receivers in the
   * A2A samples expect a JWT in `Authorization` (A2A, "Streaming & Asynchronous Operations").
   */
  readonly sign: NotificationSignFunction = async (body, { webhook, event }) => {
    this.#signer ??= importSigningKeyPair(this.#options);
    const now = Math.floor(systemClock.now() / 1000);
    const { issuer } = this.#options;
    const claims = {
      ...(issuer === undefined ? {} : { iss: issuer }),
      aud: webhook.config.url,
      sub: webhook.taskId,
      iat: now,
      exp: now + SIGNATURE_LIFETIME_SECONDS,
      jti: randomUUID(),
      seq: event.seq,
      request_body_sha256: createHash("sha256").update(body).digest("hex"),
    };
    const jwt = await signJwt(claims, await this.#signer);
    return { "x-a2a-notification-signature": jwt, authorization: `Bearer ${jwt}` };
  };

  /** Returns the public keys of the current and former signing keys. */
  async getJwks(): Promise<JSONWebKeySet> {
    this.#signer ??= importSigningKeyPair(this.#options);
    const previousSigners = await Promise.all((this.#options.previousKeys ?? []).map(importSigningKeyPair));
    return buildJwks([await this.#signer, ...previousSigners]);
  }
}
