import { A2AError } from "../../protocol/index.ts";
import type { AuthorizeFunction, ClientAuthOptions } from "./client-auth.ts";
import { createTokenFetcher } from "./oauth-token-fetcher.ts";
import {
  type AgentCardSecurity,
  formatRequirements,
  type SchemeAuthStep,
  planAuthentication,
  listAuthRequirements,
} from "./auth-plan.ts";
import { TokenSource } from "./token-source.ts";

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
  const source = new TokenSource(createTokenFetcher({ ...step, ...options }), options.monotonicNow);
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
