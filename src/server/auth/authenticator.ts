import type { Caller } from "../../engine/index.ts";
import { A2AError, type AgentCard } from "../../protocol/index.ts";
import type { AuthenticateFunction, AuthScheme, AuthRequest } from "./auth-scheme.ts";

/** What `authenticate` of a server may be: a function, a scheme, or a list of which any is enough. */
export type AuthenticationOption =
  | AuthenticateFunction
  | AuthScheme
  | readonly (AuthenticateFunction | AuthScheme)[];

/** A refusal that says how to come in. */
export class AuthChallengeError extends A2AError {
  /** For `WWW-Authenticate`. */
  readonly challenge: string;

  constructor(reason: "UNAUTHENTICATED" | "PERMISSION_DENIED", message: string, challenge: string) {
    super(reason, message);
    this.challenge = challenge;
  }
}

/** What the card says of authentication. */
export type SecurityDeclaration = Pick<AgentCard, "securitySchemes" | "securityRequirements">;

/** Everything that a server knows of who may come in. */
export class Authenticator {
  readonly #methods: readonly (AuthenticateFunction | AuthScheme)[];
  readonly #schemes: readonly AuthScheme[];

  constructor(given: AuthenticationOption) {
    this.#methods = Array.isArray(given)
      ? (given as readonly (AuthenticateFunction | AuthScheme)[])
      : [given as AuthScheme];
    this.#schemes = this.#methods.filter((way) => typeof way !== "function");
    if (this.#methods.length === 0)
      throw new Error(`"authenticate" is an empty list; leave it out to let everybody in.`);
    if (!this.#methods.every(isAuthenticationMethod))
      throw new Error(`"authenticate" takes what colloquy/auth makes, such as bearer(…), and functions.`);
    const names = this.#schemes.map(({ name }) => name);
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    if (twice !== undefined) {
      throw new Error(
        `Two ways to authenticate are called ${JSON.stringify(twice)}; give one another "name".`,
      );
    }
  }

  /** What a card declares; nothing of functions, which only their author knows. */
  get securityDeclaration(): SecurityDeclaration {
    if (this.#schemes.length === 0) return {};
    return {
      securitySchemes: Object.fromEntries(
        this.#schemes.map(({ name, securityScheme: declared }) => [name, declared]),
      ),
      securityRequirements: this.#schemes.map(({ name, requiredScopes: scopes }) => ({
        schemes: { [name]: { list: [...scopes] } },
      })),
    };
  }

  /**
   * Whom a request is from. Every way is tried, in whatever order they stand: credentials that are refused are never taken
   * for none.
   */
  async authenticate(credentials: AuthRequest): Promise<Caller> {
    const wrong = new Set<AuthScheme>();
    let lacking: AuthChallengeError | undefined;
    let nobody: Caller | undefined;
    for (const way of this.#methods) {
      const found = await (typeof way === "function" ? way(credentials) : way.authenticate(credentials));
      if (!found) continue;
      if (typeof found === "object" && "principal" in found) {
        if (found.principal !== "") return found;
        nobody ??= found;
      } else if (typeof way === "function") continue;
      else if (found === "invalid") wrong.add(way);
      else lacking ??= createInsufficientScopeError(way, found.missingScopes);
    }
    if (nobody && !lacking && wrong.size === 0) return nobody;
    throw lacking ?? this.createUnauthenticatedError(wrong);
  }

  /** The same words whether credentials are missing or wrong, and whatever is wrong with them. */
  createUnauthenticatedError(wrong: ReadonlySet<AuthScheme> = new Set()): AuthChallengeError {
    const challenges = this.#schemes.map((scheme) =>
      scheme.buildChallenge(wrong.has(scheme) ? "invalid_token" : undefined),
    );
    return createUnauthenticatedError(
      challenges.length > 0 ? [...new Set(challenges)].join(", ") : undefined,
    );
  }
}

/** For callers without types, too: what is no way in must not be found out with the first request. */
function isAuthenticationMethod(way: unknown): boolean {
  if (typeof way === "function") return true;
  return typeof way === "object" && way !== null && "find" in way && "challenge" in way;
}

/** What nobody in particular is told. */
export function createUnauthenticatedError(challenge: string = `Bearer realm="a2a"`): AuthChallengeError {
  const text = "The request is not authenticated; send valid credentials, as the agent's card asks for them.";
  return new AuthChallengeError("UNAUTHENTICATED", text, challenge);
}

function createInsufficientScopeError(scheme: AuthScheme, scopes: readonly string[]): AuthChallengeError {
  const text = `Your credentials are not enough for this agent; it needs the scope ${scopes.join(" ")}.`;
  return new AuthChallengeError("PERMISSION_DENIED", text, scheme.buildChallenge("insufficient_scope"));
}
