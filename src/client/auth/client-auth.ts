import type { SecurityScheme } from "../../protocol/index.ts";

/** What a client can show. Each goes only to the agent, and only in the way that its card asks for. */
export interface AgentCredentials {
  readonly apiKey?: string;
  /** A token that was got elsewhere, or what gives one; the function is asked for every request. */
  readonly bearer?: string | (() => string | Promise<string>);
  readonly basic?: { readonly username: string; readonly password: string };
  /** For OAuth 2.0 client credentials, whether the card names the token endpoint or where to discover it. */
  readonly oauthClient?: OAuthClient;
  /** True when `fetch` presents a client certificate. */
  readonly mutualTls?: boolean;
}

export interface OAuthClient {
  readonly id: string;
  readonly secret: string;
  /**
   * The URL of the authorization server that the secret is for. To be given when it is another host than the agent's:
   * a card may name anybody as the one to send secrets to.
   */
  readonly issuer?: string;
  /** Default: those that the card requires. */
  readonly scopes?: readonly string[];
  /** Where the secret stands in a request for a token. Default: what the server's metadata says, else the header. */
  readonly secretLocation?: "header" | "body";
  /** Further fields of a request for a token, such as `audience` or `resource`. */
  readonly tokenParameters?: Readonly<Record<string, string>>;
}

export interface ClientAuthOptions extends AgentCredentials {
  /** Credentials for single schemes, under their names in the card; they come before all others. */
  readonly schemeCredentials?: Readonly<Record<string, AgentCredentials>>;
}

/** One way to be let in, out of the card: all of these schemes together. */
export interface AuthorizeRequest {
  readonly schemes: Readonly<
    Record<string, { readonly scheme: SecurityScheme | undefined; readonly scopes: readonly string[] }>
  >;
  /** True when what was given for it before has just been refused. */
  readonly isRetry: boolean;
}

/** Gives the headers that satisfy a requirement, or undefined when it cannot. Asked for every request. */
export type AuthorizeFunction = (
  request: AuthorizeRequest,
) => Readonly<Record<string, string>> | undefined | Promise<Readonly<Record<string, string>> | undefined>;
