import { A2AError } from "../../protocol/index.ts";
import type { Authorize, ClientAuth } from "./client-auth.ts";
import { tokensOf } from "./oauth.ts";
import { type AuthCard, describe, type Means, planOf, requirementsOf } from "./plan.ts";
import { TokenSource } from "./token-source.ts";

/** What one request carries to be let in. */
export interface Authorization {
  readonly headers: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

/** Signs the requests to one agent. */
export interface Authorizer {
  authorize(signal: AbortSignal | undefined): Promise<Authorization>;
  /** To be told of an authorization that was refused: true when another try may fare better. */
  renew(refused: Authorization): boolean;
}

export interface AuthorizerOptions {
  readonly auth: ClientAuth | Authorize;
  /** The origin of the interface in use. */
  readonly origin: string;
  /** For requests to authorization servers; they carry nothing that is the agent's. */
  readonly fetch: typeof fetch;
  readonly now: () => number;
}

/** What signs requests as the card asks; throws UNAUTHENTICATED when that cannot be done with what is given. */
export function createAuthorizer(card: AuthCard, options: AuthorizerOptions): Authorizer {
  const { auth } = options;
  return typeof auth === "function" ? byFunction(card, auth) : byPlan(planOf(card, auth), options);
}

/** Asks the function for one requirement after the other. */
function byFunction(card: AuthCard, authorize: Authorize): Authorizer {
  const requirements = requirementsOf(card);
  const alternatives = requirements.length > 0 ? requirements : [new Map<string, never>()];
  let again = false;
  return {
    async authorize() {
      const isAgain = again;
      again = false;
      for (const requirement of alternatives) {
        const headers = await authorize({ schemes: Object.fromEntries(requirement), again: isAgain });
        if (headers) return { headers };
      }
      if (alternatives.some(({ size }) => size === 0)) return { headers: {} };
      const message = `The auth function has nothing for ${JSON.stringify(card.name)}, which takes ${describe(requirements)}.`;
      throw new A2AError("UNAUTHENTICATED", message);
    },
    renew() {
      again = true;
      return true;
    },
  };
}

function byPlan(plan: readonly Means[], options: AuthorizerOptions): Authorizer {
  const signers = plan.map((means) => signerOf(means, options));
  return {
    async authorize(signal) {
      const headers: Record<string, string> = {};
      const query: Record<string, string> = {};
      for (const signer of signers) await signer.sign({ headers, query }, signal);
      return Object.keys(query).length > 0 ? { headers, query } : { headers };
    },
    // All are told, also behind one that has something new.
    renew: (refused) => signers.filter((signer) => signer.renew?.(refused)).length > 0,
  };
}

/** Adds to an authorization what satisfies one scheme. */
interface Signer {
  sign(
    onto: { headers: Record<string, string>; query: Record<string, string> },
    signal: AbortSignal | undefined,
  ): void | Promise<void>;
  /** Absent for what stays the same however often it is refused. */
  renew?(refused: Authorization): true;
}

function signerOf(means: Means, options: AuthorizerOptions): Signer {
  if (means.put === "token") return tokenSigner(means, options);
  if (means.put === "bearer") return bearerSigner(means.token);
  if (means.put === "nothing") return { sign() {} };
  const { put, name, value } = means;
  return {
    sign({ headers, query }) {
      if (put === "header") headers[name.toLowerCase()] = value;
      else if (put === "query") query[name] = value;
      else headers["cookie"] = [headers["cookie"], `${name}=${value}`].filter(Boolean).join("; ");
    },
  };
}

function bearerSigner(token: string | (() => string | Promise<string>)): Signer {
  if (typeof token === "string") return { sign: ({ headers }) => bear(headers, token) };
  return { sign: async ({ headers }) => bear(headers, await token()), renew: () => true };
}

function tokenSigner(means: Extract<Means, { put: "token" }>, options: AuthorizerOptions): Signer {
  const source = new TokenSource(tokensOf({ ...means, ...options }), options.now);
  return {
    sign: async ({ headers }, signal) => bear(headers, await source.token(signal)),
    renew({ headers }) {
      source.drop(headers["authorization"]?.slice("Bearer ".length));
      return true;
    },
  };
}

function bear(headers: Record<string, string>, token: string): void {
  headers["authorization"] = `Bearer ${token}`;
}
