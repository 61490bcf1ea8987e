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

/** What must prove who sends a notification: all that is given here. */
export interface WebhookAuthOptions {
  /** The token that the agent was given with the configuration. */
  readonly token?: string;
  /** What the agent was given to authenticate itself with. */
  readonly authentication?: AuthenticationInfo;
  /** A signature of the notification, as Colloquy makes them: a JWT for this webhook over the body's SHA-256. */
  readonly signature?: WebhookSignatureOptions;
  /** True: take notifications that prove nothing. Whoever finds out the URL can then send some. */
  readonly allowUnauthenticated?: boolean;
}

export interface WebhookSignatureOptions extends FetchKeysOptions {
  /** The URL of the agent's keys (`…/.well-known/jwks.json`), or public keys at hand. */
  readonly keys: string | JSONWebKeySet | readonly JWK[];
  /** The URL of this webhook, as the agent was given it: a signature for another one does not count. */
  readonly audience: string;
  /** Whose signature it must be: its `iss`. Default: anybody's who has one of the keys. */
  readonly issuer?: string;
}

/** Rejects with `NotificationRejectedError` for what proves nothing. */
export interface WebhookAuthenticator {
  /** Looks at what is told before the body is read. */
  verifyHeaders(headers: Headers): Promise<void>;
  verifyBody(headers: Headers, body: Uint8Array<ArrayBuffer>): Promise<void>;
}

/** How old a signature without an end of its own may be, in seconds. */
const MAX_SIGNATURE_AGE_SECONDS = 300;

export function createWebhookAuthenticator({
  token,
  authentication,
  signature,
  allowUnauthenticated = false,
}: WebhookAuthOptions): WebhookAuthenticator {
  if (!token && !authentication && !signature && !allowUnauthenticated) {
    throw new Error(
      "A webhook that believes anyone can be told anything; give it a token, an authentication or a signature, or say { allowAnyone: true }.",
    );
  }
  return {
    async verifyHeaders(headers) {
      if (token && !(await hasValidToken(headers, token)))
        throw new NotificationRejectedError(401, "The notification does not have the token of its webhook.");
      if (authentication && !(await hasValidCredentials(headers, authentication)))
        throw new NotificationRejectedError(
          401,
          "The notification does not have the authentication of its webhook.",
        );
    },
    verifyBody: signature ? createSignatureVerifier(signature) : async () => {},
  };
}

/** The header of 0.3, which most send with 1.0 too; Go's SDK leaves out the X. */
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
        throw new VerificationError("The signature is over another body.");
      // Else what was sent once could come again as the next one, which would then be taken for known.
      const id = headers.get("x-a2a-notification-id");
      if (typeof seq === "number" && id !== `${encodeURIComponent(String(sub))}:${seq}`)
        throw new VerificationError("The signature is of another notification.");
    } catch (error) {
      if (error instanceof KeysUnavailableError)
        throw new NotificationRejectedError(503, error.message, error);
      if (error instanceof VerificationError) throw new NotificationRejectedError(401, error.message, error);
      throw error;
    }
  };
}

/** Compares digests: how long that takes tells nothing of the secret. */
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
