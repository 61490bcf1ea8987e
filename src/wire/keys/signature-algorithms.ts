/**
 * The signature algorithms that Colloquy supports. Colloquy does not support `none` or symmetric algorithms
 * such as `HS256`. With a symmetric algorithm, an attacker could use a public key as the secret (RFC 8725
 * §3.1).
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

/**
 * Returns `algorithms` unchanged. Throws an error if `algorithms` is empty or contains an unsupported
 * signature algorithm.
 */
export function requireSupportedAlgorithms(
  algorithms: readonly SignatureAlgorithm[] = SIGNATURE_ALGORITHMS,
): string[] {
  const unsupported = algorithms.find((name) => !SIGNATURE_ALGORITHMS.includes(name));
  if (unsupported === undefined && algorithms.length > 0) return [...algorithms];
  throw new Error(
    `${JSON.stringify(unsupported ?? [])} is not a supported signature algorithm; use one of ${SIGNATURE_ALGORITHMS.join(", ")}.`,
  );
}
