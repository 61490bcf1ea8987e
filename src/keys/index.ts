/**
 * SIGNATURES AND KEYS. The only room that opens `jose`: signs and verifies JWTs (access tokens, push notifications) and
 * flattened JWS (agent cards), and finds the public keys of others: given ones, those at a JWKS URL, those of an OpenID
 * issuer. Asymmetric algorithms only, so that whoever can verify can not sign. Runs wherever Web Crypto does.
 */
export type { JSONWebKeySet, JWK } from "jose";
export type { SignatureAlgorithm } from "./algorithms.ts";
export { SIGNATURE_ALGORITHMS } from "./algorithms.ts";
export { discoverIssuer } from "./discover.ts";
export type { IssuerMetadata } from "./discover.ts";
export type { FetchKeysOptions } from "./fetch-json.ts";
export type { KeySet } from "./key-set.ts";
export { givenKeys, issuerKeys, remoteKeys } from "./key-set.ts";
export type { JwsSignature } from "./jws.ts";
export { signJws, verifyJws } from "./jws.ts";
export type { JwtClaims, JwtRules } from "./jwt.ts";
export { signJwt, verifyJwt } from "./jwt.ts";
export { KeysUnavailable, NotVerified } from "./not-verified.ts";
export type { Signer, SignerOptions } from "./signer.ts";
export { createSigner, generateSigningKey, publicKeys } from "./signer.ts";
