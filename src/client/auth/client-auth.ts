import type { SecurityScheme } from "../../protocol/index.ts";

/**
 * Credentials that a client uses to authenticate to an agent. The client sends each credential only to the
 * agent, in the location that the agent card declares.
 */
export interface AgentCredentials {
  /** API key. The agent card names the header, query parameter, or cookie. Default: the header `X-API-Key`. */
  readonly apiKey?: string;
  /**
   * A bearer token, or a function that returns a bearer token. The client calls a token function for every
   * request.
   */
  readonly bearer?: string | (() => string | Promise<string>);
  /** User name and password for HTTP Basic authentication. */
  readonly basic?: { readonly username: string; readonly password: string };
  /**
   * The OAuth 2.0 client for the client credentials flow. The agent card declares the token endpoint or a
   * metadata URL.
   */
  readonly oauthClient?: OAuthClient;
  /** True if the configured `fetch` function presents a TLS client certificate. Default: false. */
  readonly mutualTls?: boolean;
}

/** A registered OAuth 2.0 client. */
export interface OAuthClient {
  /** Id of the OAuth 2.0 client. */
  readonly id: string;
  /** Secret of the client. */
  readonly secret: string;
  /**
   * The URL of the authorization server that issued the secret. The issuer is required if the token endpoint
   * is not on the agent's host. Without an issuer, an agent card could direct the secret to any host.
   */
  readonly issuer?: string;
  /** Scopes in token requests. By default, the client requests the scopes that the agent card requires. */
  readonly scopes?: readonly string[];
  /**
   * The location of the client secret in a token request. By default, the metadata of the authorization
   * server determines the location. If there is no metadata, the client sends the secret in the
   * `Authorization` header.
   */
  readonly secretLocation?: "header" | "body";
  /** Additional fields of a token request, such as `audience` or `resource`. */
  readonly tokenParameters?: Readonly<Record<string, string>>;
}

/** Credentials for the `auth` option of `connect`. */
export interface ClientAuthOptions extends AgentCredentials {
  /**
   * Credentials for individual security schemes, by their names in the agent card. Scheme-specific
   * credentials take precedence over all other credentials.
   */
  readonly schemeCredentials?: Readonly<Record<string, AgentCredentials>>;
}

/**
 * A security requirement of the agent card. A request must satisfy all schemes of the security requirement.
 */
export interface SecurityRequirementToSatisfy {
  readonly schemes: Readonly<
    Record<string, { readonly scheme: SecurityScheme | undefined; readonly scopes: readonly string[] }>
  >;
  /** True if the agent rejected the previous headers for this security requirement. */
  readonly isRetry: boolean;
}

/**
 * Returns the headers that satisfy a security requirement, or `undefined` if no suitable credentials exist.
 * The client calls the function for each request.
 */
export type AuthorizeFunction = (
  request: SecurityRequirementToSatisfy,
) => Readonly<Record<string, string>> | undefined | Promise<Readonly<Record<string, string>> | undefined>;
