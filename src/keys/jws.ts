import { base64url, FlattenedSign, flattenedVerify, type JWSHeaderParameters } from "jose";
import { requireSupportedAlgorithms, type SignatureAlgorithm } from "./signature-algorithms.ts";
import type { KeyResolver } from "./key-resolver.ts";
import { VerificationError, toVerificationError } from "./verification-error.ts";
import type { Signer } from "./signer.ts";

/** A signature over bytes that travel elsewhere: flattened JWS without its payload (RFC 7515 §7.2.2, appendix F). */
export interface JwsSignature {
  /** The protected header, base64url. */
  readonly protected: string;
  readonly signature: string;
}

/** Signs bytes. The protected header has `alg` and `kid`, and what `header` adds. */
export async function signJws(
  payload: Uint8Array,
  { alg, kid, privateKey: key }: Signer,
  header: Omit<JWSHeaderParameters, "alg" | "kid"> = {},
): Promise<JwsSignature> {
  const signed = await new FlattenedSign(payload).setProtectedHeader({ alg, ...header, kid }).sign(key);
  return { protected: signed.protected ?? "", signature: signed.signature };
}

/** The protected header of a signature that holds for `payload`; rejects with `VerificationError`. */
export async function verifyJws(
  payload: Uint8Array,
  { protected: header, signature }: JwsSignature,
  keys: KeyResolver,
  { algorithms }: { readonly algorithms?: readonly SignatureAlgorithm[] } = {},
): Promise<JWSHeaderParameters> {
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
