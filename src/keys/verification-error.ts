import { errors } from "jose";

/**
 * Error for an invalid token or signature. The error message contains the reason and is intended for logs.
 * The sender of the token receives only a general message, because the reason could help an attacker.
 */
export class VerificationError extends Error {
  override readonly name: string = "VerificationError";
}

/**
 * Error for a signature that cannot be verified because the public keys cannot be fetched. The error message
 * contains the URL and the reason, and is intended for logs.
 */
export class KeysUnavailableError extends Error {
  override readonly name: string = "KeysUnavailableError";
}

/** Converts a `jose` error for invalid input to a `VerificationError`, and returns other errors unchanged. */
export function toVerificationError(thrown: unknown): unknown {
  if (thrown instanceof errors.JOSEError) return new VerificationError(thrown.message, { cause: thrown });
  return thrown;
}
