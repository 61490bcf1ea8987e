import { errors } from "jose";

/**
 * A token or signature that is not to be believed. The message says why, for logs; whoever sent it is told less, so
 * that nobody learns from refusals how to make a better one.
 */
export class VerificationError extends Error {
  override readonly name: string = "NotVerified";
}

/** Keys that can not be had: nobody can tell whether what they signed holds. The message says where and why, for logs. */
export class KeysUnavailableError extends Error {
  override readonly name: string = "KeysUnavailable";
}

/** The failure of a verification: the sender's, or one on the way to the keys, which stays what it is. */
export function toVerificationError(thrown: unknown): unknown {
  // What `jose` throws at input; a mistake of ours is a TypeError.
  if (thrown instanceof errors.JOSEError) return new VerificationError(thrown.message, { cause: thrown });
  return thrown;
}
