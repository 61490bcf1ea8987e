import type { SecurityScheme } from "../../protocol/index.ts";

/**
 * Credentials of a client. Each credential is sent only to the agent, and only in the location that its card
 * declares.
 */
export interface AgentCredentials {
  readonly apiKey?: string;
  /** A bearer token, or a function that returns one. A token function is called for every request. */
  readonly bearer?: string | (() => string | Promise<string>);
  readonly basic?: { readonly username: string; readonly password: string };
  /**
   * The client of the OAuth 2.0 client credentials flow. The card declares the token endpoint or a metadata
   * URL.
   */
  readonly oauthClient?: OAuthClient;
  /** True if `fetch` presents a client certificate. Default: false. */
  readonly mutualTls?: boolean;
}

/** A registered OAuth 2.0 client. */
export interface OAuthClient {
  readonly id: string;
  readonly secret: string;
  /**
   * The URL of the authorization server that issued the secret. Required if its host differs from the agent's
   * host, because a card may name any host as its token endpoint.
   */
  readonly issuer?: string;
  /** Scopes to request. Default: the scopes that the card requires. */
  readonly scopes?: readonly string[];
  /**
   * The location of the client secret in a token request. Default: the method in the server's metadata, or
   * the `Authorization` header.
   */
  readonly secretLocation?: "header" | "body";
  /** Additional fields of a token request, such as `audience` or `resource`. */
  readonly tokenParameters?: Readonly<Record<string, string>>;
}

/** Credentials for the `auth` option of `connect`. */
export interface ClientAuthOptions extends AgentCredentials {
  /**
   * Credentials for individual security schemes, by their names in the card. Scheme-specific credentials take
   * precedence over all other credentials.
   */
  readonly schemeCredentials?: Readonly<Record<string, AgentCredentials>>;
}

/** One security requirement of the card: all of its schemes have to be satisfied together. */
export interface AuthorizeRequest {
  readonly schemes: Readonly<
    Record<string, { readonly scheme: SecurityScheme | undefined; readonly scopes: readonly string[] }>
  >;
  /** True if the agent has just rejected the previous headers for this requirement. */
  readonly isRetry: boolean;
}

/**
 * Returns the headers that satisfy a security requirement, or `undefined` if it cannot. Called for every
 * request.
 */
export type AuthorizeFunction = (
  request: AuthorizeRequest,
) => Readonly<Record<string, string>> | undefined | Promise<Readonly<Record<string, string>> | undefined>;
