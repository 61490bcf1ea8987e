import { createHash, randomUUID } from "node:crypto";
import type { WebhookNotification } from "../../engine/index.ts";
import {
  createSigner,
  buildJwks,
  signJwt,
  type JSONWebKeySet,
  type Signer,
  type SignerOptions,
} from "../../keys/index.ts";

/** Options for signed push notifications. A receiver uses the signature to verify the sender. */
export interface PushSigningOptions extends SignerOptions {
  /** Issuer of the signatures, in the claim `iss`. Default: none. */
  readonly issuer?: string;
  /**
   * Former signing keys. Former keys stay published so that receivers can verify notifications in transit.
   * Default: none.
   */
  readonly previousKeys?: readonly SignerOptions[];
}

/** Returns the headers with a signature of the body. */
export type NotificationSignFunction = (
  body: string,
  notification: WebhookNotification,
) => Promise<Record<string, string>>;

/** Time in seconds for which a signature is valid. Each delivery attempt has a new signature. */
const SIGNATURE_LIFETIME_SECONDS = 300;

/** Signs push notifications and provides the public keys. The private key is loaded at first use. */
export class PushSigner {
  readonly #options: PushSigningOptions;
  #signer: Promise<Signer> | undefined;

  constructor(options: PushSigningOptions) {
    this.#options = options;
  }

  /**
   * Returns a JWT with the SHA-256 digest of the body. If the webhook has no credentials, the JWT is also
   * sent in `Authorization`, where the receivers of the A2A samples expect it (A2A, "Streaming & Asynchronous
   * Operations").
   */
  readonly sign: NotificationSignFunction = async (body, { webhook, event }) => {
    this.#signer ??= createSigner(this.#options);
    const now = Math.floor(Date.now() / 1000);
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

  /** Returns the public key set of the current key and the former keys. */
  async getJwks(): Promise<JSONWebKeySet> {
    this.#signer ??= createSigner(this.#options);
    const previousSigners = await Promise.all((this.#options.previousKeys ?? []).map(createSigner));
    return buildJwks([await this.#signer, ...previousSigners]);
  }
}
