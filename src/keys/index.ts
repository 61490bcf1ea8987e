/**
 * SIGNATURES AND KEYS. The only room that opens `jose`: signs and verifies JWTs (access tokens, push notifications) and
 * flattened JWS (agent cards), and finds the public keys of others: given ones, those at a JWKS URL, those of an OpenID
 * issuer. Asymmetric algorithms only, so that whoever can verify can not sign. Runs wherever Web Crypto does.
 */
export type { JSONWebKeySet, JWK } from "jose";
export type { SignatureAlgorithm } from "./signature-algorithms.ts";
export { SIGNATURE_ALGORITHMS } from "./signature-algorithms.ts";
export { discoverIssuer } from "./issuer-discovery.ts";
export type { IssuerMetadata } from "./issuer-discovery.ts";
export type { FetchKeysOptions } from "./fetch-json.ts";
export type { KeyResolver } from "./key-resolver.ts";
export { createStaticKeyResolver, createIssuerKeyResolver, createJwksKeyResolver } from "./key-resolver.ts";
export type { JwsSignature } from "./jws.ts";
export { signJws, verifyJws } from "./jws.ts";
export type { JwtClaims, JwtValidationOptions } from "./jwt.ts";
export { signJwt, verifyJwt } from "./jwt.ts";
export { KeysUnavailableError, VerificationError } from "./verification-error.ts";
export type { Signer, SignerOptions } from "./signer.ts";
export { createSigner, generateSigningKey, buildJwks } from "./signer.ts";
