/**
 * AUTHENTICATION. The scheme functions in the `auth` folder create authentication schemes for the
 * `authenticate` option of `createServer` and `toA2a`.
 */
export { apiKeys, generateApiKey } from "./api-keys.ts";
export type { ApiKeyOptions, GeneratedApiKey, StoredApiKey } from "./api-keys.ts";
export { basic } from "./basic.ts";
export type { BasicAuthOptions, BasicAuthUser } from "./basic.ts";
export { bearer } from "./bearer.ts";
export type { BearerOptions } from "./bearer.ts";
export { contextTokens } from "./context-tokens.ts";
export type { ContextTokenOptions } from "./context-tokens.ts";
export { mintContextToken } from "./context-tokens.ts";
export type { ContextToken, MintContextTokenOptions } from "./context-tokens.ts";
export { custom } from "./custom.ts";
export type { CustomAuthOptions } from "./custom.ts";
export { jwt, oauth2, openIdConnect } from "./jwt.ts";
export type { JwtOptions, OAuth2Options, OpenIdConnectOptions } from "./jwt.ts";
export { mtls } from "./mtls.ts";
export type { MtlsOptions } from "./mtls.ts";
export { hashPassword } from "./basic.ts";
export type {
  AuthenticateFunction,
  AuthScheme,
  AuthRequest,
  AuthResult,
  CallerIdentity,
} from "./auth-scheme.ts";
export type { ClientCertificate } from "../http-exchange.ts";
