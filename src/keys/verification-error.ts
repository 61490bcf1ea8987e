import { errors } from "jose";

/**
 * An error for an invalid token or signature. The message contains the reason and is intended for logs. The
 * sender receives a general message, because the reason could help an attacker.
 */
export class VerificationError extends Error {
  override readonly name: string = "VerificationError";
}

/**
 * An error for public keys that cannot be fetched, so that a signature cannot be verified. The message
 * contains the URL and the reason, and is intended for logs.
 */
export class KeysUnavailableError extends Error {
  override readonly name: string = "KeysUnavailableError";
}

/** Converts a `jose` error for invalid input to a `VerificationError`. Returns other errors unchanged. */
export function toVerificationError(thrown: unknown): unknown {
  if (thrown instanceof errors.JOSEError) return new VerificationError(thrown.message, { cause: thrown });
  return thrown;
}
