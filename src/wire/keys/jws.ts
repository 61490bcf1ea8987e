import type { JWSHeaderParameters } from "jose";
import { requireSupportedAlgorithms, type SignatureAlgorithm } from "./signature-algorithms.ts";
import type { KeyResolver } from "./key-resolver.ts";
import { loadJose } from "./load-jose.ts";
import { VerificationError, toVerificationError } from "./verification-error.ts";
import type { SigningKeyPair } from "./signing-key-pair.ts";

/** A detached JWS signature in the flattened JSON serialization (RFC 7515 §7.2.2, appendix F). */
interface JwsSignature {
  /** The protected JWS header, encoded as base64url. */
  readonly protected: string;
  readonly signature: string;
}

/** Signs `payload`. The protected JWS header contains `alg`, `kid`, and the members of `header`. */
export async function signJws(
  payload: Uint8Array,
  { alg, kid, privateKey }: SigningKeyPair,
  header: Omit<JWSHeaderParameters, "alg" | "kid"> = {},
): Promise<JwsSignature> {
  const { FlattenedSign } = await loadJose();
  const signed = await new FlattenedSign(payload)
    .setProtectedHeader({ alg, ...header, kid })
    .sign(privateKey);
  return { protected: signed.protected ?? "", signature: signed.signature };
}

/**
 * Verifies a signature over `payload` and returns the protected header of the signature. Rejects with
 * `VerificationError` if the signature is invalid.
 */
export async function verifyJws(
  payload: Uint8Array,
  { protected: header, signature }: JwsSignature,
  keys: KeyResolver,
  { algorithms }: { readonly algorithms?: readonly SignatureAlgorithm[] } = {},
): Promise<JWSHeaderParameters> {
  const { base64url, flattenedVerify } = await loadJose();
  const jws = { payload: base64url.encode(payload), protected: header, signature };
  const options = { algorithms: requireSupportedAlgorithms(algorithms) };
  try {
    const { protectedHeader } = await flattenedVerify(jws, keys, options);
    if (protectedHeader) return protectedHeader;
  } catch (error) {
    throw toVerificationError(error);
  }
  throw new VerificationError("The signature has no protected header.");
}
