import { errors, jwtVerify, SignJWT } from "jose";
import { toJoseOptions, type JwtClaims, type JwtValidationOptions } from "./jwt.ts";
import { toVerificationError } from "./verification-error.ts";

/**
 * The only algorithm for shared secrets. The functions of this file never accept another algorithm, and `verifyJwt`
 * never accepts this one, so that a public key cannot serve as a secret (RFC 8725 §3.1).
 */
const SHARED_SECRET_ALGORITHM = "HS256";
/** Minimum length of a secret in bytes, which is the output size of the hash (RFC 7518 §3.2). */
const MIN_SECRET_BYTES = 32;

/** Secrets that sign and verify tokens of one app. The first secret signs, and all secrets verify. */
export type SharedSecrets = readonly [Uint8Array, ...Uint8Array[]];

/** Converts secrets to bytes. Throws an error if there is no secret, or if a secret is too short. */
export function importSharedSecrets(secret: string | readonly string[]): SharedSecrets {
  const [first, ...others] = (typeof secret === "string" ? [secret] : secret).map(importSharedSecret);
  if (first) return [first, ...others];
  throw new Error(`"secret" is an empty list; set at least one secret.`);
}

function importSharedSecret(text: unknown): Uint8Array {
  const bytes = new TextEncoder().encode(typeof text === "string" ? text : "");
  if (bytes.length >= MIN_SECRET_BYTES) return bytes;
  throw new Error(
    `A secret requires at least ${MIN_SECRET_BYTES} bytes; generate one with openssl rand -base64 32.`,
  );
}

/** Returns a compact JWT that is signed with the first secret. */
export async function signJwtWithSecret(
  claims: JwtClaims,
  [secret]: SharedSecrets,
  typ: string,
): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: SHARED_SECRET_ALGORITHM, typ }).sign(secret);
}

/** Verifies a JWT with shared secrets and returns its claims. Rejects with `VerificationError` if the JWT is invalid. */
export async function verifyJwtWithSecrets(
  token: string,
  secrets: SharedSecrets,
  validation: Omit<JwtValidationOptions, "algorithms">,
): Promise<JwtClaims> {
  const options = { ...toJoseOptions(validation), algorithms: [SHARED_SECRET_ALGORITHM] };
  let failure: unknown;
  for (const secret of secrets) {
    try {
      return (await jwtVerify(token, secret, options)).payload;
    } catch (error) {
      failure = error;
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) break;
    }
  }
  throw toVerificationError(failure);
}
