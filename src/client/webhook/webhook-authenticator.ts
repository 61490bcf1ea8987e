import type { AuthenticationInfo } from "../../protocol/index.ts";
import {
  createJwksKeyResolver,
  createStaticKeyResolver,
  type FetchKeysOptions,
  type JSONWebKeySet,
  type JWK,
  KeysUnavailableError,
  VerificationError,
  verifyJwt,
} from "../../wire/keys/index.ts";

/** Options for authenticating webhook notifications. A notification must pass every configured check. */
export interface WebhookAuthOptions {
  /** Token from the webhook configuration that the caller registered with the agent. */
  readonly token?: string;
  /** Authentication from the webhook configuration that the caller registered with the agent. */
  readonly authentication?: AuthenticationInfo;
  /**
   * Requires a signature in the format that Colloquy servers use. The signature is a JWT for this webhook and
   * contains the SHA-256 hash of the body.
   */
  readonly signature?: WebhookSignatureOptions;
  /**
   * Whether the webhook accepts notifications without any check. Anyone who knows the URL can then send
   * notifications. Default: false.
   */
  readonly allowUnauthenticated?: boolean;
}

/** Options for verifying signed notifications. */
export interface WebhookSignatureOptions extends FetchKeysOptions {
  /** Public keys of the agent, or the URL of its key set (`…/.well-known/jwks.json`). */
  readonly keys: string | JSONWebKeySet | readonly JWK[];
  /**
   * The URL of this webhook, exactly as registered with the agent. The webhook rejects signatures for other
   * URLs.
   */
  readonly audience: string;
  /** The required `iss` claim. By default, any issuer with a key in `keys` is accepted. */
  readonly issuer?: string;
}

/** Throws `NotificationRejectedError` if the body does not belong to the verified headers. */
type BodyVerifier = (body: Uint8Array<ArrayBuffer>) => Promise<void>;

/** Verifies requests to a webhook. If a check fails, the methods reject with `NotificationRejectedError`. */
interface WebhookAuthenticator {
  /** Verifies the headers of a notification before its body is read. */
  verifyHeaders(headers: Headers): Promise<BodyVerifier>;
  /** Verifies a request for a confirmation, which has no signature. */
  verifyChallenge(headers: Headers): Promise<void>;
}

/** Maximum age in seconds of a signature without an expiry time. */
const MAX_SIGNATURE_AGE_SECONDS = 300;

export function createWebhookAuthenticator({
  token,
  authentication,
  signature,
  allowUnauthenticated = false,
}: WebhookAuthOptions): WebhookAuthenticator {
  if (!token && !authentication && !signature && !allowUnauthenticated) {
    throw new Error(
      "createWebhook requires a way to authenticate notifications. Set token, authentication, or signature, or set { allowUnauthenticated: true } to accept all notifications.",
    );
  }
  const verifySignature = signature && createSignatureVerifier(signature);
  const verifySecrets = async (headers: Headers): Promise<void> => {
    if (token && !(await hasValidToken(headers, token)))
      throw new NotificationRejectedError(401, "The notification does not contain the token of its webhook.");
    if (authentication && !(await hasValidCredentials(headers, authentication)))
      throw new NotificationRejectedError(
        401,
        "The notification does not contain the credentials of its webhook.",
      );
  };
  return {
    async verifyHeaders(headers) {
      await verifySecrets(headers);
      return verifySignature ? await verifySignature(headers) : async () => {};
    },
    async verifyChallenge(headers) {
      if (!token && !authentication && !allowUnauthenticated)
        throw new NotificationRejectedError(
          401,
          'A server asked for a confirmation, which has no signature. Set "token" of createWebhook to confirm it.',
        );
      await verifySecrets(headers);
    },
  };
}

/**
 * Checks the token header of A2A 0.3. Most servers also send this header with A2A 1.0. The Go SDK omits the
 * `X-` prefix.
 */
function hasValidToken(headers: Headers, token: string): Promise<boolean> {
  return isEqualConstantTime(
    headers.get("x-a2a-notification-token") ?? headers.get("a2a-notification-token"),
    token,
  );
}

async function hasValidCredentials(
  headers: Headers,
  { scheme, credentials = "" }: AuthenticationInfo,
): Promise<boolean> {
  const header = headers.get("authorization") ?? "";
  const [received = ""] = header.split(" ", 1);
  const receivedCredentials = header.slice(received.length).trimStart();
  return (
    received.length < header.length &&
    received.toLowerCase() === scheme.toLowerCase() &&
    (await isEqualConstantTime(receivedCredentials, credentials))
  );
}

function createSignatureVerifier({
  keys,
  audience,
  issuer,
  ...options
}: WebhookSignatureOptions): WebhookAuthenticator["verifyHeaders"] {
  const keyResolver =
    typeof keys === "string" ? createJwksKeyResolver(keys, options) : createStaticKeyResolver(keys, options);
  const verifyOptions = {
    requiredClaims: ["iat", "aud"],
    audience,
    maxAge: MAX_SIGNATURE_AGE_SECONDS,
    ...(issuer === undefined ? {} : { issuer }),
    ...(options.now ? { now: options.now } : {}),
  };
  return async (headers) => {
    const bearer = /^bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
    const jwt = headers.get("x-a2a-notification-signature") ?? bearer;
    if (jwt === undefined) throw new NotificationRejectedError(401, "The notification is not signed.");
    const { request_body_sha256, sub, seq } = await verifyJwt(jwt, keyResolver, verifyOptions).catch(
      (error: unknown) => {
        if (error instanceof KeysUnavailableError)
          throw new NotificationRejectedError(503, error.message, error);
        if (error instanceof VerificationError)
          throw new NotificationRejectedError(401, error.message, error);
        throw error;
      },
    );
    // Without this check, a recorded notification could be replayed as a later one, and the real later one would
    // count as a duplicate.
    const id = headers.get("x-a2a-notification-id");
    if (typeof seq === "number" && id !== `${encodeURIComponent(String(sub))}:${seq}`)
      throw new NotificationRejectedError(401, "The signature belongs to a different notification.");
    return async (body) => {
      if (request_body_sha256 !== encodeHex(await computeSha256(body)))
        throw new NotificationRejectedError(401, "The signature covers a different body.");
    };
  };
}

/**
 * Compares the SHA-256 digests of two secrets, so that the duration of the comparison does not depend on the
 * secrets.
 */
async function isEqualConstantTime(received: string | null, secret: string): Promise<boolean> {
  const [receivedDigest, secretDigest] = await Promise.all(
    [received ?? "", secret].map((text) => computeSha256(new TextEncoder().encode(text))),
  );
  return received !== null && encodeHex(receivedDigest) === encodeHex(secretDigest);
}

async function computeSha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

function encodeHex(bytes: Uint8Array = new Uint8Array()): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * The reason why a webhook notification was rejected. `message` is only for the server's log, because the
 * sender of the notification receives only `status`.
 */
export class NotificationRejectedError extends Error {
  override readonly name: string = "NotificationRejectedError";
  readonly status: number;

  constructor(status: number, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
  }
}
