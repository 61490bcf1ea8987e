/**
 * The `colloquy/auth` entry point exports authentication schemes for the option `authenticate` of
 * `createServer` and `toA2a`.
 */
export type {
  ApiKeyOptions,
  AuthenticateFunction,
  AuthRequest,
  AuthResult,
  AuthScheme,
  BasicAuthOptions,
  BasicAuthUser,
  BearerOptions,
  CallerIdentity,
  ClientCertificate,
  ContextToken,
  ContextTokenOptions,
  CustomAuthOptions,
  GeneratedApiKey,
  JwtOptions,
  MintContextTokenOptions,
  MtlsOptions,
  OAuth2Options,
  OpenIdConnectOptions,
  StoredApiKey,
} from "../server/auth/index.ts";
export {
  apiKeys,
  basic,
  bearer,
  contextTokens,
  custom,
  generateApiKey,
  hashPassword,
  jwt,
  mintContextToken,
  mtls,
  oauth2,
  openIdConnect,
} from "../server/auth/index.ts";
