import {
  createStaticKeyResolver,
  KeysUnavailableError,
  VerificationError,
  createJwksKeyResolver,
  verifyJwt,
  type FetchKeysOptions,
  type JSONWebKeySet,
  type JWK,
} from "../../keys/index.ts";
import type { AuthenticationInfo } from "../../protocol/index.ts";
import { NotificationRejectedError } from "./notification-rejected-error.ts";

/** The proof that a webhook requires of each notification. Every configured option must be satisfied. */
export interface WebhookAuthOptions {
  /** The token that was passed to the agent in the push configuration. */
  readonly token?: string;
  /** The authentication that was passed to the agent in the push configuration. */
  readonly authentication?: AuthenticationInfo;
  /**
   * Requires a signature in the format that Colloquy servers send: a JWT for this webhook that contains the
   * SHA-256 hash of the body.
   */
  readonly signature?: WebhookSignatureOptions;
  /**
   * Whether to accept notifications without any proof. Anyone who knows the URL can then send notifications.
   * Default: false.
   */
  readonly allowUnauthenticated?: boolean;
}

/** Options for verifying signed notifications. */
export interface WebhookSignatureOptions extends FetchKeysOptions {
  /** Public keys, or the URL of the agent's key set (`…/.well-known/jwks.json`). */
  readonly keys: string | JSONWebKeySet | readonly JWK[];
  /**
   * The URL of this webhook, in the exact form that was registered with the agent. Signatures for other URLs are
   * rejected.
   */
  readonly audience: string;
  /** The required `iss` claim. Default: any issuer whose key is in `keys`. */
  readonly issuer?: string;
}

/** Verifies webhook notifications. Both methods reject with `NotificationRejectedError`. */
interface WebhookAuthenticator {
  /** Verifies the headers, before the body is read. */
  verifyHeaders(headers: Headers): Promise<void>;
  verifyBody(headers: Headers, body: Uint8Array<ArrayBuffer>): Promise<void>;
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
  return {
    async verifyHeaders(headers) {
      if (token && !(await hasValidToken(headers, token)))
        throw new NotificationRejectedError(
          401,
          "The notification does not contain the token of its webhook.",
        );
      if (authentication && !(await hasValidCredentials(headers, authentication)))
        throw new NotificationRejectedError(
          401,
          "The notification does not contain the credentials of its webhook.",
        );
    },
    verifyBody: signature ? createSignatureVerifier(signature) : async () => {},
  };
}

/**
 * Checks the token header of A2A 0.3, which most servers also send with 1.0. The Go SDK sends it without the
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
  const [, received = "", receivedCredentials = ""] =
    /^(\S+) +(.*)$/.exec(headers.get("authorization") ?? "") ?? [];
  return (
    received.toLowerCase() === scheme.toLowerCase() &&
    (await isEqualConstantTime(receivedCredentials, credentials))
  );
}

function createSignatureVerifier({
  keys,
  audience,
  issuer,
  ...options
}: WebhookSignatureOptions): WebhookAuthenticator["verifyBody"] {
  const keyResolver =
    typeof keys === "string" ? createJwksKeyResolver(keys, options) : createStaticKeyResolver(keys, options);
  const verifyOptions = {
    requiredClaims: ["iat", "aud"],
    audience,
    maxAge: MAX_SIGNATURE_AGE_SECONDS,
    ...(issuer === undefined ? {} : { issuer }),
    ...(options.now ? { now: options.now } : {}),
  };
  return async (headers, body) => {
    const bearer = /^bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
    const jwt = headers.get("x-a2a-notification-signature") ?? bearer;
    if (jwt === undefined) throw new NotificationRejectedError(401, "The notification is not signed.");
    try {
      const { request_body_sha256, sub, seq } = await verifyJwt(jwt, keyResolver, verifyOptions);
      if (request_body_sha256 !== encodeHex(await computeSha256(body)))
        throw new VerificationError("The signature covers a different body.");
      // Without this check, a recorded notification could be replayed as a later one, and the real later one
      // would count as a duplicate.
      const id = headers.get("x-a2a-notification-id");
      if (typeof seq === "number" && id !== `${encodeURIComponent(String(sub))}:${seq}`)
        throw new VerificationError("The signature belongs to a different notification.");
    } catch (error) {
      if (error instanceof KeysUnavailableError)
        throw new NotificationRejectedError(503, error.message, error);
      if (error instanceof VerificationError) throw new NotificationRejectedError(401, error.message, error);
      throw error;
    }
  };
}

/** Compares SHA-256 digests, so that the duration does not depend on the secret. */
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
