import { errors, jwtVerify, SignJWT, type JWTPayload, type JWTVerifyOptions } from "jose";
import { requireSupportedAlgorithms, type SignatureAlgorithm } from "./signature-algorithms.ts";
import type { KeyResolver } from "./key-resolver.ts";
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

export function toJoseOptions(rules: JwtValidationOptions): JWTVerifyOptions {
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
  try {
    return (await jwtVerify(token, keys, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (keyError) {
        if (!(keyError instanceof errors.JWSSignatureVerificationFailed)) throw keyError;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

/** Returns a signed compact JWT. The claims `exp` and `iat` are in seconds since 1970. */
export async function signJwt(
  claims: JwtClaims,
  { alg, kid, privateKey }: SigningKeyPair,
  typ: string = "JWT",
): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg, kid, typ }).sign(privateKey);
}
