import {
  givenKeys,
  NotVerified,
  remoteKeys,
  verifyJwt,
  type JSONWebKeySet,
  type JWK,
  type KeySet,
} from "../keys/index.ts";
import type { AuthenticationInfo } from "../protocol/index.ts";

/** What must prove who sends a notification: all that is given here. */
export interface WebhookProof {
  /** The token that the agent was given with the configuration. */
  readonly token?: string;
  /** What the agent was given to authenticate itself with. */
  readonly authentication?: AuthenticationInfo;
  /** A signature of the notification, as Colloquy and the samples of A2A make them: a JWT over the body's SHA-256. */
  readonly signature?: WebhookSignature;
  /** True: take notifications that prove nothing. Whoever finds out the URL can then send some. */
  readonly allowAnyone?: boolean;
}

export interface WebhookSignature {
  /** The URL of the agent's keys (JWKS), or public keys at hand. */
  readonly keys: string | JSONWebKeySet | readonly JWK[];
  /** The URL of this webhook, as the agent was given it: a signature for another one does not count. */
  readonly audience: string;
  readonly issuer?: string;
}

/** Says whether a request, with its body's text, proves who sends it; rejects when that cannot be told now. */
export function proofOf(proof: WebhookProof): (request: Request, text: string) => Promise<boolean> {
  const { token, authentication, signature, allowAnyone } = proof;
  const checks: ((headers: Headers, text: string) => Promise<boolean>)[] = [];
  if (token !== undefined) checks.push((headers) => isToken(headers, token));
  if (authentication) checks.push((headers) => isAuthentication(headers, authentication));
  if (signature) checks.push(signatureCheck(signature));
  if (checks.length === 0 && !allowAnyone) {
    throw new Error("A webhook needs a token, an authentication or a signature, or { allowAnyone: true }.");
  }
  return async ({ headers }, text) => {
    for (const check of checks) if (!(await check(headers, text))) return false;
    return true;
  };
}

/** The header of 0.3, which most send with 1.0 too; Go's SDK leaves out the X. */
function isToken(headers: Headers, token: string): Promise<boolean> {
  return isSame(headers.get("x-a2a-notification-token") ?? headers.get("a2a-notification-token"), token);
}

async function isAuthentication(
  headers: Headers,
  { scheme, credentials = "" }: AuthenticationInfo,
): Promise<boolean> {
  const [, given = "", rest = ""] = /^(\S+) +(.*)$/.exec(headers.get("authorization") ?? "") ?? [];
  return given.toLowerCase() === scheme.toLowerCase() && (await isSame(rest, credentials));
}

function signatureCheck({
  keys,
  audience,
  issuer,
}: WebhookSignature): (headers: Headers, text: string) => Promise<boolean> {
  const set: KeySet = typeof keys === "string" ? remoteKeys(keys) : givenKeys(keys);
  const rules = issuer === undefined ? { audience } : { audience, issuer };
  return async (headers, text) => {
    const bearer = /^bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
    const jwt = headers.get("x-a2a-notification-signature") ?? bearer;
    if (jwt === undefined) return false;
    try {
      const { request_body_sha256: signed } = await verifyJwt(jwt, set, rules);
      return signed === hex(await digest(text));
    } catch (error) {
      if (error instanceof NotVerified) return false;
      throw error;
    }
  };
}

/** Compares digests: how long that takes tells nothing of the secret. */
async function isSame(given: string | null, secret: string): Promise<boolean> {
  const [one, other] = await Promise.all([digest(given ?? ""), digest(secret)]);
  return given !== null && one.every((byte, index) => byte === other[index]);
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
