import {
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  importPKCS8,
  type CryptoKey,
  type JSONWebKeySet,
  type JWK,
} from "jose";
import { requireSupportedAlgorithms, type SignatureAlgorithm } from "./signature-algorithms.ts";

export interface SignerOptions {
  /** A private key: a JWK, or PKCS #8 as PEM (`-----BEGIN PRIVATE KEY-----`), which needs `alg` beside it. */
  readonly privateKey: JWK | string;
  /** Default: what the JWK says, else what its key is commonly used for. */
  readonly alg?: SignatureAlgorithm;
  /** Names the key for verifiers. Default: what the JWK says, else the key's thumbprint (RFC 7638). */
  readonly kid?: string;
}

/** A private key at work: signs, and knows what others need to verify. */
export interface Signer {
  readonly alg: SignatureAlgorithm;
  readonly kid: string;
  /** The key that others verify with. */
  readonly publicKey: JWK;
  /** For this room only; it can not be read out. */
  readonly privateKey: CryptoKey;
}

/** A signer of a private key. */
export async function createSigner({ privateKey, alg, kid }: SignerOptions): Promise<Signer> {
  const jwk = typeof privateKey === "string" ? await importPemKey(privateKey, alg) : privateKey;
  const algorithm = alg ?? inferAlgorithm(jwk);
  requireSupportedAlgorithms([algorithm]);
  const key = await importJWK({ ...jwk, alg: algorithm }, algorithm, { extractable: false });
  if (key instanceof Uint8Array || key.type !== "private") {
    throw new Error("A signer needs a private key (EC, OKP or RSA); this one has none.");
  }
  const name = kid ?? jwk.kid ?? (await calculateJwkThumbprint(jwk));
  return { alg: algorithm, kid: name, publicKey: toPublicJwk(jwk, algorithm, name), privateKey: key };
}

/** A new private key as a JWK, to be kept where secrets are kept. */
export async function generateSigningKey(alg: SignatureAlgorithm = "ES256"): Promise<JWK> {
  const [name = "ES256"] = requireSupportedAlgorithms([alg]);
  const { privateKey } = await generateKeyPair(name, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, alg, use: "sig", kid: await calculateJwkThumbprint(jwk) };
}

/** What a JWKS endpoint answers: the public keys of all that sign, or have lately signed. */
export function buildJwks(signers: readonly Pick<Signer, "publicKey">[]): JSONWebKeySet {
  return { keys: signers.map(({ publicKey }) => publicKey) };
}

async function importPemKey(pem: string, alg: SignatureAlgorithm | undefined): Promise<JWK> {
  if (alg === undefined)
    throw new Error(`A key in PEM does not say what it signs; give "alg" too, for example "RS256".`);
  return exportJWK(await importPKCS8(pem, alg, { extractable: true }));
}

const ALGORITHM_BY_CURVE: Readonly<Record<string, SignatureAlgorithm>> = {
  "P-256": "ES256",
  "P-384": "ES384",
  "P-521": "ES512",
  Ed25519: "EdDSA",
};

function inferAlgorithm({ alg, kty, crv = "" }: JWK): SignatureAlgorithm {
  const found = alg ?? (kty === "RSA" ? "RS256" : ALGORITHM_BY_CURVE[crv]);
  if (found === undefined)
    throw new Error(`The key does not say what it signs; give "alg", for example "ES256".`);
  return found as SignatureAlgorithm;
}

/** Member by member, so that nothing private can slip through. */
function toPublicJwk({ kty, crv, x, y, n, e }: JWK, alg: SignatureAlgorithm, kid: string): JWK {
  const members = Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(members), alg, kid, use: "sig" };
}
