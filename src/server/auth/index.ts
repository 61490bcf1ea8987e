/**
 * WHO MAY COME IN. Each function here makes one way to authenticate, for `authenticate` of `createServer` and `toA2a`:
 * it lets callers in, and the agent's card declares it. Several may stand in a list; any of them is enough.
 */
export { apiKeys, generateApiKey } from "./api-keys.ts";
export type { ApiKeyOptions, GeneratedApiKey, StoredApiKey } from "./api-keys.ts";
export { basic } from "./basic.ts";
export type { BasicAuthOptions, BasicAuthUser } from "./basic.ts";
export { bearer } from "./bearer.ts";
export type { BearerOptions } from "./bearer.ts";
export { custom } from "./custom.ts";
export type { CustomAuthOptions } from "./custom.ts";
export { jwt, oauth2, openIdConnect } from "./jwt.ts";
export type { JwtOptions, OAuth2Options, OpenIdConnectOptions } from "./jwt.ts";
export { mtls } from "./mtls.ts";
export type { MtlsOptions } from "./mtls.ts";
export { hashPassword } from "./password-hash.ts";
export type {
  AuthenticateFunction,
  AuthScheme,
  AuthRequest,
  AuthResult,
  CallerIdentity,
} from "./auth-scheme.ts";
export type { ClientCertificate } from "../http-exchange.ts";
