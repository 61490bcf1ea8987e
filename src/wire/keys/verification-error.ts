import { errors } from "jose";

/**
 * Error for an invalid token or signature. The error message contains the reason and is intended for logs.
 * The reason could help an attacker. The sender of the token therefore receives only a general message.
 */
export class VerificationError extends Error {
  override readonly name: string = "VerificationError";

  /** The claim or header field that is invalid, or `signature`. Undefined for other malformed tokens. */
  get field(): string | undefined {
    const { cause } = this;
    if (cause instanceof errors.JWTExpired || cause instanceof errors.JWTClaimValidationFailed)
      return cause.claim;
    return cause instanceof errors.JWSSignatureVerificationFailed || cause instanceof errors.JWKSNoMatchingKey
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
  if (thrown instanceof errors.JWKSNoMatchingKey)
    return new UnknownKeyError(thrown.message, { cause: thrown });
  if (thrown instanceof errors.JOSEError)
    return new VerificationError(explainJoseError(thrown), { cause: thrown });
  return thrown;
}

/** `jose` names the claim of a rejected token, but not its value. */
function explainJoseError(error: errors.JOSEError): string {
  if (!(error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed))
    return error.message;
  const value = error.payload[error.claim];
  if (value === undefined) return error.message;
  if (error instanceof errors.JWTExpired && typeof value === "number")
    return `the token expired at ${new Date(value * 1000).toISOString()}`;
  return `${error.message}: ${JSON.stringify(value).slice(0, 200)}`;
}
