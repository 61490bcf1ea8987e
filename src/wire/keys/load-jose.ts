import type * as jose from "jose";

let loading: Promise<typeof jose> | undefined;

/** Loads the package `jose`, whose 46 modules programs without signatures do not need. */
export function loadJose(): Promise<typeof jose> {
  return (loading ??= import("jose"));
}

/** Codes of the errors of `jose` that this module distinguishes. */
type JoseErrorCode =
  | "ERR_JWKS_MULTIPLE_MATCHING_KEYS"
  | "ERR_JWKS_NO_MATCHING_KEY"
  | "ERR_JWS_SIGNATURE_VERIFICATION_FAILED"
  | "ERR_JWT_CLAIM_VALIDATION_FAILED"
  | "ERR_JWT_EXPIRED";

/** Returns whether an error has a code of `jose`. The classes of its errors need no import for this. */
export function hasJoseCode(error: unknown, ...codes: readonly JoseErrorCode[]): boolean {
  return error instanceof Error && "code" in error && codes.some((code) => code === error.code);
}
