import { errors, jwtVerify, SignJWT, type JWTPayload, type JWTVerifyOptions } from "jose";
import { requireSupportedAlgorithms, type SignatureAlgorithm } from "./signature-algorithms.ts";
import type { KeyResolver } from "./key-resolver.ts";
import { toVerificationError } from "./verification-error.ts";
import type { Signer } from "./signer.ts";

/** What a JWT claims. */
export type JwtClaims = JWTPayload;

/** What must hold of a JWT beside its signature. */
export interface JwtValidationOptions {
  /** Who must have made it. */
  readonly issuer?: string | readonly string[];
  /** For whom it must be: one of these. */
  readonly audience?: string | readonly string[];
  /** Default: all that `SIGNATURE_ALGORITHMS` names. */
  readonly algorithms?: readonly SignatureAlgorithm[];
  /** By how much clocks may differ, in seconds. Default 5. */
  readonly clockTolerance?: number;
  /** Claims that must be there. Default `exp`: a token that never ends can not be taken back. */
  readonly requiredClaims?: readonly string[];
  /** How long ago it may have been made (`iat`), in seconds. Default: any time. */
  readonly maxAge?: number;
  /** What the header's `typ` must be, for example `at+jwt`. */
  readonly typ?: string;
  /** Milliseconds since 1970. Default: the system's clock. */
  readonly now?: () => number;
}

/** The claims of a JWT that holds; rejects with `VerificationError`, and with `KeysUnavailableError`. */
export async function verifyJwt(
  token: string,
  keys: KeyResolver,
  rules: JwtValidationOptions,
): Promise<JwtClaims> {
  const options = toJoseOptions(rules);
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

/** A token without `kid` may be of any of several keys. */
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
      } catch (wrong) {
        if (!(wrong instanceof errors.JWSSignatureVerificationFailed)) throw wrong;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

/** A compact JWT. `claims` has what is to be said, times included (`exp`, `iat`: seconds since 1970). */
export async function signJwt(
  claims: JwtClaims,
  { alg, kid, privateKey: key }: Signer,
  typ: string = "JWT",
): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg, kid, typ }).sign(key);
}
