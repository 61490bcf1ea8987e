import type { errors } from "jose";
import { hasJoseCode } from "./load-jose.ts";

/**
 * Error for an invalid token or signature. The error message contains the reason and is intended for logs.
 * The reason could help an attacker. The sender of the token therefore receives only a general message.
 */
export class VerificationError extends Error {
  override readonly name: string = "VerificationError";

  /** The claim or header field that is invalid, or `signature`. Undefined for other malformed tokens. */
  get field(): string | undefined {
    const { cause } = this;
    if (isClaimError(cause)) return cause.claim;
    return hasJoseCode(cause, "ERR_JWS_SIGNATURE_VERIFICATION_FAILED", "ERR_JWKS_NO_MATCHING_KEY")
      ? "signature"
      : undefined;
  }
}

/** Error for a signature whose key is not among the known keys. */
export class UnknownKeyError extends VerificationError {
  override readonly name: string = "UnknownKeyError";
}

/**
 * Error for public keys that cannot be fetched. Without the public keys, signatures cannot be verified. The
 * error message contains the URL and the reason, and is intended for logs.
 */
export class KeysUnavailableError extends Error {
  override readonly name: string = "KeysUnavailableError";
}

/**
 * Converts a `jose` error to a `VerificationError` if the error reports invalid input. Returns other errors
 * unchanged.
 */
export function toVerificationError(thrown: unknown): unknown {
  if (!isJoseError(thrown)) return thrown;
  return hasJoseCode(thrown, "ERR_JWKS_NO_MATCHING_KEY")
    ? new UnknownKeyError(thrown.message, { cause: thrown })
    : new VerificationError(explainJoseError(thrown), { cause: thrown });
}

/** `jose` names the claim of a rejected token, but not its value. */
function explainJoseError(error: errors.JOSEError): string {
  if (!isClaimError(error)) return error.message;
  const value = error.payload[error.claim];
  if (value === undefined) return error.message;
  if (error.code === "ERR_JWT_EXPIRED" && typeof value === "number")
    return `the token expired at ${new Date(value * 1000).toISOString()}`;
  return `${error.message}: ${JSON.stringify(value).slice(0, 200)}`;
}

function isJoseError(error: unknown): error is errors.JOSEError {
  return error instanceof Error && "code" in error && /^ERR_J(?:OSE|W)/.test(String(error.code));
}

function isClaimError(error: unknown): error is errors.JWTExpired | errors.JWTClaimValidationFailed {
  return hasJoseCode(error, "ERR_JWT_EXPIRED", "ERR_JWT_CLAIM_VALIDATION_FAILED");
}
