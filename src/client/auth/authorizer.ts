import { A2AError, type AgentCard } from "../../protocol/index.ts";
import { untilAborted } from "../http/deadline.ts";
import {
  type AgentCardSecurity,
  formatRequirements,
  listAuthRequirements,
  planAuthentication,
  type SchemeAuthStep,
} from "./auth-plan.ts";
import type { AuthorizeFunction, ClientAuthOptions } from "./client-auth.ts";
import type { AccessToken } from "./oauth-requests.ts";

/** The headers and query parameters that authenticate one request. */
export interface Authorization {
  readonly headers: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

/** Authenticates the requests to one agent. */
export interface Authorizer {
  authorize(signal: AbortSignal | undefined): Promise<Authorization>;
  /** Records that the agent rejected an authorization, and returns true if another attempt may succeed. */
  invalidate(authorization: Authorization): boolean;
}

/** Options for `createAuthorizer`. */
export interface AuthorizerOptions {
  readonly auth: ClientAuthOptions | AuthorizeFunction;
  /** The origins that may receive the secret of an OAuth client without a configured issuer. */
  readonly secretOrigins: readonly string[];
  /**
   * The `fetch` function for requests to authorization servers. Token requests do not contain the credentials
   * for the agent.
   */
  readonly fetch: typeof fetch;
  readonly monotonicNow: () => number;
}

/**
 * Creates the authorizer that satisfies a security requirement of the agent card. Throws `UNAUTHENTICATED` if
 * the credentials satisfy no security requirement.
 */
export function createAuthorizer(card: AgentCardSecurity, options: AuthorizerOptions): Authorizer {
  const { auth } = options;
  return typeof auth === "function"
    ? createFunctionAuthorizer(card, auth)
    : createAuthPlanAuthorizer(planAuthentication(card, auth), options);
}

/**
 * Creates an authorizer from a function. The authorizer calls the function for each security requirement
 * until the function returns headers.
 */
function createFunctionAuthorizer(card: AgentCardSecurity, authorize: AuthorizeFunction): Authorizer {
  const requirements = listAuthRequirements(card);
  const alternatives = requirements.length > 0 ? requirements : [new Map<string, never>()];
  let wasRefused = false;
  return {
    async authorize() {
      const isRetry = wasRefused;
      wasRefused = false;
      for (const requirement of alternatives) {
        const headers = await authorize({ schemes: Object.fromEntries(requirement), isRetry });
        if (headers) return { headers };
      }
      if (alternatives.some(({ size }) => size === 0)) return { headers: {} };
      const message = `The auth function returned no headers for ${JSON.stringify(card.name)}, which accepts ${formatRequirements(requirements)}.`;
      throw new A2AError("UNAUTHENTICATED", message);
    },
    invalidate() {
      wasRefused = true;
      return true;
    },
  };
}

function createAuthPlanAuthorizer(plan: readonly SchemeAuthStep[], options: AuthorizerOptions): Authorizer {
  const schemeAuthorizers = plan.map((step) => createSchemeAuthorizer(step, options));
  return {
    async authorize(signal) {
      const headers: Record<string, string> = {};
      const query: Record<string, string> = {};
      for (const schemeAuthorizer of schemeAuthorizers)
        await schemeAuthorizer.apply({ headers, query }, signal);
      return Object.keys(query).length > 0 ? { headers, query } : { headers };
    },
    // Every scheme has to be notified, so `some` would stop too early.
    invalidate: (authorization) =>
      schemeAuthorizers.filter((schemeAuthorizer) => schemeAuthorizer.invalidate?.(authorization)).length > 0,
  };
}

/** Adds the credentials of one security scheme to the authorization of a request. */
interface SchemeAuthorizer {
  apply(
    authorization: { headers: Record<string, string>; query: Record<string, string> },
    signal: AbortSignal | undefined,
  ): void | Promise<void>;
  /**
   * Renews the credentials after the agent has rejected an authorization. Static credentials have no
   * `invalidate` function, because they do not change after a rejection.
   */
  invalidate?(authorization: Authorization): true;
}

function createSchemeAuthorizer(step: SchemeAuthStep, options: AuthorizerOptions): SchemeAuthorizer {
  if (step.kind === "token") return createOAuthAuthorizer(step, options);
  if (step.kind === "bearer") return createBearerAuthorizer(step.token);
  if (step.kind === "nothing") return { apply() {} };
  const { kind, name, value } = step;
  return {
    apply({ headers, query }) {
      if (kind === "header") headers[name.toLowerCase()] = value;
      else if (kind === "query") query[name] = value;
      else headers["cookie"] = [headers["cookie"], `${name}=${value}`].filter(Boolean).join("; ");
    },
  };
}

function createBearerAuthorizer(token: string | (() => string | Promise<string>)): SchemeAuthorizer {
  if (typeof token === "string") return { apply: ({ headers }) => setBearerHeader(headers, token) };
  return { apply: async ({ headers }) => setBearerHeader(headers, await token()), invalidate: () => true };
}

function createOAuthAuthorizer(
  step: Extract<SchemeAuthStep, { kind: "token" }>,
  options: AuthorizerOptions,
): SchemeAuthorizer {
  let pendingFetcher: Promise<() => Promise<AccessToken>> | undefined;
  const source = new TokenSource(async () => {
    // Most clients have no OAuth client, so the code for it is loaded when it is used.
    pendingFetcher ??= import("./oauth-requests.ts").then(({ createTokenFetcher }) =>
      createTokenFetcher({ ...step, ...options }),
    );
    return await (
      await pendingFetcher
    )();
  }, options.monotonicNow);
  return {
    apply: async ({ headers }, signal) => setBearerHeader(headers, await source.getToken(signal)),
    invalidate({ headers }) {
      source.invalidate(headers["authorization"]?.slice("Bearer ".length));
      return true;
    },
  };
}

function setBearerHeader(headers: Record<string, string>, token: string): void {
  headers["authorization"] = `Bearer ${token}`;
}

/** Caches an access token until the token expires. Concurrent callers share one request for a new token. */
export class TokenSource {
  readonly #fetchToken: () => Promise<AccessToken>;
  readonly #monotonicNow: () => number;
  #token: AccessToken | undefined;
  #pending: Promise<AccessToken> | undefined;

  constructor(fetchToken: () => Promise<AccessToken>, monotonicNow: () => number) {
    this.#fetchToken = fetchToken;
    this.#monotonicNow = monotonicNow;
  }

  /**
   * Returns a valid access token. If the signal of a caller aborts, only that caller stops waiting. The token
   * request continues, because other callers may be waiting for the token.
   */
  async getToken(signal: AbortSignal | undefined): Promise<string> {
    const { value, expiresAt = Infinity } = this.#token ?? { value: "", expiresAt: 0 };
    if (this.#monotonicNow() < expiresAt) return value;
    this.#pending ??= this.#renew();
    return (await untilAborted(this.#pending, signal)).value;
  }

  /**
   * Discards an access token that the agent has rejected, unless the cache already contains a newer token.
   */
  invalidate(token: string | undefined): void {
    if (this.#token?.value === token) this.#token = undefined;
  }

  async #renew(): Promise<AccessToken> {
    try {
      this.#token = await this.#fetchToken();
      return this.#token;
    } finally {
      this.#pending = undefined;
    }
  }
}

/**
 * Creates an authorizer for agent card requests. The security schemes are unknown until the agent card
 * arrives. The authorizer sends the first request without credentials. After a response with status 401, the
 * authorizer sends the credentials in standard headers. Credentials are sent only to the origin that the user
 * of the client configured.
 *
 * Returns `undefined` if an OAuth client is the only credential, because only the agent card declares the
 * token endpoint.
 */
export function createChallengeAuthorizer(
  options: Omit<AuthorizerOptions, "secretOrigins">,
): Authorizer | undefined {
  const { auth } = options;
  const hasFallback =
    typeof auth === "function" ||
    [auth.apiKey, auth.bearer, auth.basic].some((credential) => credential !== undefined);
  if (!hasFallback) return undefined;
  const authorizer = createAuthorizer(STAND_IN_FOR_UNKNOWN_AGENT_CARD, {
    ...options,
    // This authorizer requests no tokens.
    secretOrigins: [],
  });
  let wasChallenged = false;
  return {
    authorize: async (signal) => (wasChallenged ? await authorizer.authorize(signal) : { headers: {} }),
    invalidate(authorization) {
      if (wasChallenged) return authorizer.invalidate(authorization);
      wasChallenged = true;
      return true;
    },
  };
}

/** Empty security declarations, which the client uses until it has the agent card. */
const STAND_IN_FOR_UNKNOWN_AGENT_CARD: Pick<AgentCard, "name"> = { name: "the card" };
