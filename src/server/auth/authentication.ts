import type { Caller } from "../../engine/index.ts";
import { A2AError, type AgentCard } from "../../protocol/index.ts";
import type { Authenticate, AuthScheme, Credentials } from "./scheme.ts";

/** What `authenticate` of a server may be: a function, a scheme, or a list of which any is enough. */
export type Authentication = Authenticate | AuthScheme | readonly (Authenticate | AuthScheme)[];

/** A refusal that says how to come in. */
export class AuthRefusal extends A2AError {
  /** For `WWW-Authenticate`. */
  readonly challenge: string;

  constructor(reason: "UNAUTHENTICATED" | "PERMISSION_DENIED", message: string, challenge: string) {
    super(reason, message);
    this.challenge = challenge;
  }
}

/** What the card says of authentication. */
export type Declared = Pick<AgentCard, "securitySchemes" | "securityRequirements">;

/** Everything that a server knows of who may come in. */
export class Gate {
  readonly #ways: readonly (Authenticate | AuthScheme)[];
  readonly #schemes: readonly AuthScheme[];

  constructor(given: Authentication) {
    this.#ways = Array.isArray(given)
      ? (given as readonly (Authenticate | AuthScheme)[])
      : [given as AuthScheme];
    this.#schemes = this.#ways.filter((way) => typeof way !== "function");
    if (this.#ways.length === 0)
      throw new Error(`"authenticate" is an empty list; leave it out to let everybody in.`);
    if (!this.#ways.every(isWay))
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
  get declared(): Declared {
    if (this.#schemes.length === 0) return {};
    return {
      securitySchemes: Object.fromEntries(this.#schemes.map(({ name, declared }) => [name, declared])),
      securityRequirements: this.#schemes.map(({ name, scopes }) => ({
        schemes: { [name]: { list: [...scopes] } },
      })),
    };
  }

  /**
   * Whom a request is from. Every way is tried, in whatever order they stand: credentials that are refused are never taken
   * for none.
   */
  async admit(credentials: Credentials): Promise<Caller> {
    const wrong = new Set<AuthScheme>();
    let lacking: AuthRefusal | undefined;
    let nobody: Caller | undefined;
    for (const way of this.#ways) {
      const found = await (typeof way === "function" ? way(credentials) : way.find(credentials));
      if (!found) continue;
      if (typeof found === "object" && "principal" in found) {
        if (found.principal !== "") return found;
        nobody ??= found;
      } else if (typeof way === "function") continue;
      else if (found === "invalid") wrong.add(way);
      else lacking ??= lacks(way, found.lacks);
    }
    if (nobody && !lacking && wrong.size === 0) return nobody;
    throw lacking ?? this.refusal(wrong);
  }

  /** The same words whether credentials are missing or wrong, and whatever is wrong with them. */
  refusal(wrong: ReadonlySet<AuthScheme> = new Set()): AuthRefusal {
    const challenges = this.#schemes.map((scheme) =>
      scheme.challenge(wrong.has(scheme) ? "invalid_token" : undefined),
    );
    return refusal(challenges.length > 0 ? [...new Set(challenges)].join(", ") : undefined);
  }
}

/** For callers without types, too: what is no way in must not be found out with the first request. */
function isWay(way: unknown): boolean {
  if (typeof way === "function") return true;
  return typeof way === "object" && way !== null && "find" in way && "challenge" in way;
}

/** What nobody in particular is told. */
export function refusal(challenge: string = `Bearer realm="a2a"`): AuthRefusal {
  const text = "The request is not authenticated; send valid credentials, as the agent's card asks for them.";
  return new AuthRefusal("UNAUTHENTICATED", text, challenge);
}

function lacks(scheme: AuthScheme, scopes: readonly string[]): AuthRefusal {
  const text = `Your credentials are not enough for this agent; it needs the scope ${scopes.join(" ")}.`;
  return new AuthRefusal("PERMISSION_DENIED", text, scheme.challenge("insufficient_scope"));
}
