/**
 * SIGNATURES AND KEYS. This module signs and verifies JWTs (access tokens, push notifications) and
 * flattened JWS (agent cards). Key resolvers find public keys in a static set, at a JWKS URL, or through an
 * OpenID issuer. Tokens of other issuers have asymmetric signatures only. With a symmetric algorithm, a verifier could
 * also sign. Shared secrets sign only the tokens that an app issues to itself. Only this module imports the package
 * `jose`. The code runs on every platform that supports Web Crypto.
 */
export type { JSONWebKeySet, JWK } from "jose";
export type { SignatureAlgorithm } from "./signature-algorithms.ts";
export { signJws, verifyJws } from "./jws.ts";

export type { FetchKeysOptions } from "./issuer-discovery.ts";
export type { KeyResolver } from "./key-resolver.ts";
export { createStaticKeyResolver, createIssuerKeyResolver, createJwksKeyResolver } from "./key-resolver.ts";

export type { JwtClaims } from "./jwt.ts";
export { signJwt, verifyJwt, importSharedSecrets, signJwtWithSecret, verifyJwtWithSecrets } from "./jwt.ts";
export { KeysUnavailableError, UnknownKeyError, VerificationError } from "./verification-error.ts";
export type { SigningKeyPair, SigningKeyPairOptions } from "./signing-key-pair.ts";
export { importSigningKeyPair, generateSigningKey, buildJwks } from "./signing-key-pair.ts";
