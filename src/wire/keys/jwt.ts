import type { JWTPayload, JWTVerifyOptions } from "jose";
import { requireSupportedAlgorithms, type SignatureAlgorithm } from "./signature-algorithms.ts";
import type { KeyResolver } from "./key-resolver.ts";
import { hasJoseCode, loadJose } from "./load-jose.ts";
import { toVerificationError } from "./verification-error.ts";
import type { SigningKeyPair } from "./signing-key-pair.ts";

export type JwtClaims = JWTPayload;

/** Requirements that a JWT with a valid signature must also meet. */
export interface JwtValidationOptions {
  /** Accepted issuers. Default: any. */
  readonly issuer?: string | readonly string[];
  /** Accepted audiences. The claim `aud` must contain at least one accepted audience. Default: any. */
  readonly audience?: string | readonly string[];
  /** Accepted signature algorithms. Default: all of `SIGNATURE_ALGORITHMS`. */
  readonly algorithms?: readonly SignatureAlgorithm[];
  /** Allowed difference between the clocks of issuer and verifier, in seconds. Default: 5. */
  readonly clockTolerance?: number;
  /**
   * Claims that a JWT must contain. By default, a JWT must contain `exp`. A token without an expiration time
   * would be valid forever.
   */
  readonly requiredClaims?: readonly string[];
  /** Maximum age of a JWT in seconds since the claim `iat`. Default: no limit. */
  readonly maxAge?: number;
  /** Required value of `typ` in the JWT header, for example `at+jwt`. Default: any. */
  readonly typ?: string;
  /** Returns the current time in milliseconds since 1970. The default is `Date.now`. */
  readonly now?: () => number;
}

/**
 * Verifies a JWT and returns its claims. Rejects with `VerificationError` if the JWT is invalid, and with
 * `KeysUnavailableError` if the public keys cannot be fetched.
 */
export async function verifyJwt(
  token: string,
  keys: KeyResolver,
  validation: JwtValidationOptions,
): Promise<JwtClaims> {
  const options = toJoseOptions(validation);
  try {
    return await verifyWithMatchingKeys(token, keys, options);
  } catch (error) {
    throw toVerificationError(error);
  }
}

function toJoseOptions(rules: JwtValidationOptions): JWTVerifyOptions {
  const {
    issuer,
    audience,
    algorithms,
    clockTolerance = 5,
    requiredClaims = ["exp"],
    maxAge,
    typ,
    now,
  } = rules;
  return {
    algorithms: requireSupportedAlgorithms(algorithms),
    clockTolerance,
    requiredClaims: [...requiredClaims],
    ...(issuer === undefined ? {} : { issuer: typeof issuer === "string" ? issuer : [...issuer] }),
    ...(audience === undefined ? {} : { audience: typeof audience === "string" ? audience : [...audience] }),
    ...(maxAge === undefined ? {} : { maxTokenAge: maxAge }),
    ...(typ === undefined ? {} : { typ }),
    ...(now ? { currentDate: new Date(now()) } : {}),
  };
}

/** Several keys can match a JWT without `kid`. The function tries every matching key. */
async function verifyWithMatchingKeys(
  token: string,
  keys: KeyResolver,
  options: JWTVerifyOptions,
): Promise<JwtClaims> {
  const jose = await loadJose();
  try {
    return (await jose.jwtVerify(token, keys, options)).payload;
  } catch (error) {
    if (!(error instanceof jose.errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return (await jose.jwtVerify(token, key, options)).payload;
      } catch (keyError) {
        if (!hasJoseCode(keyError, "ERR_JWS_SIGNATURE_VERIFICATION_FAILED")) throw keyError;
      }
    }
    throw new jose.errors.JWSSignatureVerificationFailed();
  }
}

/** Returns a signed compact JWT. The claims `exp` and `iat` are in seconds since 1970. */
export async function signJwt(
  claims: JwtClaims,
  { alg, kid, privateKey }: SigningKeyPair,
  typ: string = "JWT",
): Promise<string> {
  const { SignJWT } = await loadJose();
  return new SignJWT(claims).setProtectedHeader({ alg, kid, typ }).sign(privateKey);
}

/**
 * The only algorithm for shared secrets. The functions of this file never accept another algorithm, and `verifyJwt`
 * never accepts this one, so that a public key cannot serve as a secret (RFC 8725 §3.1).
 */
const SHARED_SECRET_ALGORITHM = "HS256";
/** Minimum length of a secret in bytes, which is the output size of the hash (RFC 7518 §3.2). */
const MIN_SECRET_BYTES = 32;

/** Secrets that sign and verify tokens of one app. The first secret signs, and all secrets verify. */
type SharedSecrets = readonly [Uint8Array, ...Uint8Array[]];

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
  const { SignJWT } = await loadJose();
  return new SignJWT(claims).setProtectedHeader({ alg: SHARED_SECRET_ALGORITHM, typ }).sign(secret);
}

/** Verifies a JWT with shared secrets and returns its claims. Rejects with `VerificationError` if the JWT is invalid. */
export async function verifyJwtWithSecrets(
  token: string,
  secrets: SharedSecrets,
  validation: Omit<JwtValidationOptions, "algorithms">,
): Promise<JwtClaims> {
  const options = { ...toJoseOptions(validation), algorithms: [SHARED_SECRET_ALGORITHM] };
  const { jwtVerify } = await loadJose();
  let failure: unknown;
  for (const secret of secrets) {
    try {
      return (await jwtVerify(token, secret, options)).payload;
    } catch (error) {
      failure = error;
      if (!hasJoseCode(error, "ERR_JWS_SIGNATURE_VERIFICATION_FAILED")) break;
    }
  }
  throw toVerificationError(failure);
}
