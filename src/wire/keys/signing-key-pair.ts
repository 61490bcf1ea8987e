import type { CryptoKey, JSONWebKeySet, JWK } from "jose";
import { loadJose } from "./load-jose.ts";
import { requireSupportedAlgorithms, type SignatureAlgorithm } from "./signature-algorithms.ts";

/** Options for `importSigningKeyPair`. */
export interface SigningKeyPairOptions {
  /**
   * The private key, either as a JWK or as PKCS #8 in PEM format (`-----BEGIN PRIVATE KEY-----`). A PEM key
   * requires the option `alg`.
   */
  readonly privateKey: JWK | string;
  /**
   * Signature algorithm. The default algorithm is the `alg` of the JWK. For a JWK without `alg`, the key type
   * determines the default.
   */
  readonly alg?: SignatureAlgorithm;
  /**
   * Key id that verifiers use to find the public key. The default key id is the `kid` of the JWK. For a JWK
   * without `kid`, the default is the thumbprint (RFC 7638).
   */
  readonly kid?: string;
}

/** A loaded private key for signing, with the public key for verifiers. */
export interface SigningKeyPair {
  readonly alg: SignatureAlgorithm;
  readonly kid: string;
  /** The public key that verifiers use. */
  readonly publicKey: JWK;
  /** The private key, which is not extractable and is used only inside this module. */
  readonly privateKey: CryptoKey;
}

/** Creates a signer from a private key. Rejects if the key is public or symmetric. */
export async function importSigningKeyPair({
  privateKey,
  alg,
  kid,
}: SigningKeyPairOptions): Promise<SigningKeyPair> {
  const { calculateJwkThumbprint, importJWK } = await loadJose();
  const jwk = typeof privateKey === "string" ? await importPemKey(privateKey, alg) : privateKey;
  const algorithm = alg ?? inferAlgorithm(jwk);
  requireSupportedAlgorithms([algorithm]);
  const key = await importJWK({ ...jwk, alg: algorithm }, algorithm, { extractable: false });
  if (key instanceof Uint8Array || key.type !== "private") {
    throw new Error("A signer requires a private key; use an EC, OKP, or RSA private key.");
  }
  const name = kid ?? jwk.kid ?? (await calculateJwkThumbprint(jwk));
  return { alg: algorithm, kid: name, publicKey: toPublicJwk(jwk, algorithm, name), privateKey: key };
}

/** Generates a private signing key as a JWK. Keep the private key secret. */
export async function generateSigningKey(alg: SignatureAlgorithm = "ES256"): Promise<JWK> {
  const [name = "ES256"] = requireSupportedAlgorithms([alg]);
  const { calculateJwkThumbprint, exportJWK, generateKeyPair } = await loadJose();
  const { privateKey } = await generateKeyPair(name, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, alg, use: "sig", kid: await calculateJwkThumbprint(jwk) };
}

/** Returns the JSON Web Key Set with the public keys of the signers. */
export function buildJwks(signers: readonly Pick<SigningKeyPair, "publicKey">[]): JSONWebKeySet {
  return { keys: signers.map(({ publicKey }) => publicKey) };
}

async function importPemKey(pem: string, alg: SignatureAlgorithm | undefined): Promise<JWK> {
  if (alg === undefined)
    throw new Error(`A PEM key does not specify its algorithm; set "alg", for example "RS256".`);
  const { exportJWK, importPKCS8 } = await loadJose();
  return exportJWK(await importPKCS8(pem, alg, { extractable: true }));
}

const ALGORITHM_BY_CURVE: Readonly<Record<string, SignatureAlgorithm>> = {
  "P-256": "ES256",
  "P-384": "ES384",
  "P-521": "ES512",
  Ed25519: "EdDSA",
};

function inferAlgorithm({ alg, kty, crv = "" }: JWK): SignatureAlgorithm {
  const algorithm = alg ?? (kty === "RSA" ? "RS256" : ALGORITHM_BY_CURVE[crv]);
  if (algorithm === undefined)
    throw new Error(`The key does not specify its algorithm; set "alg", for example "ES256".`);
  return algorithm as SignatureAlgorithm;
}

/**
 * Returns the public members of a JWK. `toPublicJwk` copies only a fixed list of public members. The result
 * therefore contains no private members.
 */
function toPublicJwk({ kty, crv, x, y, n, e }: JWK, alg: SignatureAlgorithm, kid: string): JWK {
  const members = Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(members), alg, kid, use: "sig" };
}
