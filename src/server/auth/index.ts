/**
 * WHO MAY COME IN. Each function here makes one way to authenticate, for `authenticate` of `createServer` and `toA2a`:
 * it lets callers in, and the agent's card declares it. Several may stand in a list; any of them is enough.
 */
export { apiKeys, newApiKey } from "./api-keys.ts";
export type { ApiKeyOptions, NewApiKey, StoredApiKey } from "./api-keys.ts";
export { basic } from "./basic.ts";
export type { BasicOptions, BasicUser } from "./basic.ts";
export { bearer } from "./bearer.ts";
export type { BearerOptions } from "./bearer.ts";
export { custom } from "./custom.ts";
export type { CustomOptions } from "./custom.ts";
export { jwt, oauth2, openIdConnect } from "./jwt.ts";
export type { JwtOptions, OAuth2Options, OpenIdConnectOptions } from "./jwt.ts";
export { mtls } from "./mtls.ts";
export type { MtlsOptions } from "./mtls.ts";
export { hashPassword } from "./password.ts";
export type { Authenticate, AuthScheme, Credentials, Finding, Grant } from "./scheme.ts";
export type { ClientCertificate } from "../exchange.ts";
