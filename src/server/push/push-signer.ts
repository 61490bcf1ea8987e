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

/** How notifications are signed, so that receivers can tell them from what anybody else posts. */
export interface PushSigningOptions extends SignerOptions {
  /** What receivers know this server by: the `iss` of the signatures. Default: none. */
  readonly issuer?: string;
  /** Keys that signed until lately; still published, so that what is under way can be verified. */
  readonly previousKeys?: readonly SignerOptions[];
}

/** Headers with a signature of `body`. */
export type NotificationSignFunction = (
  body: string,
  notification: WebhookNotification,
) => Promise<Record<string, string>>;

/** How long a signature holds, in seconds: an attempt is signed when it is made. */
const SIGNATURE_LIFETIME_SECONDS = 300;

/** Signs notifications, and publishes what they are verified with. The keys are read at first use. */
export class PushSigner {
  readonly #options: PushSigningOptions;
  #signer: Promise<Signer> | undefined;

  constructor(options: PushSigningOptions) {
    this.#options = options;
  }

  /**
   * A JWT over the SHA-256 of the body. It stands in `Authorization` too where the webhook has nothing to put there, as
   * the receivers of the samples of A2A expect it (A2A, "Streaming & Asynchronous Operations").
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

  /** What a JWKS endpoint answers. */
  async getJwks(): Promise<JSONWebKeySet> {
    this.#signer ??= createSigner(this.#options);
    const former = await Promise.all((this.#options.previousKeys ?? []).map(createSigner));
    return buildJwks([await this.#signer, ...former]);
  }
}
