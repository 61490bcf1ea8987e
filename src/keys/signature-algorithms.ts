/**
 * The signatures that are made and believed. No `none`, and nothing symmetric: with `HS256` a public key would do as
 * the secret (RFC 8725 §3.1).
 */
export const SIGNATURE_ALGORITHMS = [
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
] as const;

export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number];

/** The algorithms that a verifier allows, none of them outside the list, whatever it was configured with. */
export function requireSupportedAlgorithms(
  algorithms: readonly SignatureAlgorithm[] = SIGNATURE_ALGORITHMS,
): string[] {
  const wrong = algorithms.find((name) => !SIGNATURE_ALGORITHMS.includes(name));
  if (wrong === undefined && algorithms.length > 0) return [...algorithms];
  throw new Error(
    `${JSON.stringify(wrong ?? [])} is no signature that can be allowed; use some of ${SIGNATURE_ALGORITHMS.join(", ")}.`,
  );
}
