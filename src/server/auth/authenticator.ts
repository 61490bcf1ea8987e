import type { Caller, Observer } from "../../engine/index.ts";
import { A2AError, type AgentCard, isObject } from "../../protocol/index.ts";
import type { AuthenticateFunction, AuthScheme, AuthRequest } from "./auth-scheme.ts";
import { getAddressHolderKey } from "../remote-address.ts";

/**
 * Value of the option `authenticate`. The value is an authentication function, an authentication scheme, or a
 * list of functions and schemes. With a list, a caller can authenticate with any function or scheme in the
 * list.
 */
export type AuthenticationOption =
  | AuthenticateFunction
  | AuthScheme
  | readonly (AuthenticateFunction | AuthScheme)[];

/** Error for an unauthenticated request. The challenge lists the accepted authentication schemes. */
export class AuthChallengeError extends A2AError {
  /** Value of the `WWW-Authenticate` header in the error response. */
  readonly challenge: string;

  constructor(reason: "UNAUTHENTICATED" | "PERMISSION_DENIED", message: string, challenge: string) {
    super(reason, message);
    this.challenge = challenge;
  }
}

/** Agent card members that declare authentication schemes. */
type SecurityDeclaration = Pick<AgentCard, "securitySchemes" | "securityRequirements">;

/**
 * Authenticates requests with the functions and schemes of the option `authenticate`, and declares these
 * schemes in agent cards.
 */
export class Authenticator {
  readonly #methods: readonly (AuthenticateFunction | AuthScheme)[];
  readonly #schemes: readonly AuthScheme[];
  readonly #observer: Pick<Observer, "onCredentialsRejected">;

  constructor(option: AuthenticationOption, observer: Pick<Observer, "onCredentialsRejected"> = {}) {
    this.#observer = observer;
    this.#methods = Array.isArray(option)
      ? (option as readonly (AuthenticateFunction | AuthScheme)[])
      : [option as AuthScheme];
    this.#schemes = this.#methods.filter((method) => typeof method !== "function");
    if (this.#methods.length === 0)
      throw new Error(`"authenticate" is an empty list; omit the option to accept unauthenticated requests.`);
    if (!this.#methods.every(isAuthFunctionOrScheme))
      throw new Error(
        `"authenticate" accepts functions and schemes of colloquy/auth; pass a scheme such as bearer(…).`,
      );
    const names = this.#schemes.map(({ name }) => name);
    const duplicate = names.find((name, at) => names.indexOf(name) !== at);
    if (duplicate !== undefined) {
      throw new Error(
        `Two authentication schemes have the name ${JSON.stringify(duplicate)}; set another "schemeName" for one of them.`,
      );
    }
  }

  /**
   * Returns the agent card members that declare authentication schemes. An authentication function has no
   * known scheme. Agent cards therefore do not declare authentication functions.
   */
  get securityDeclaration(): SecurityDeclaration {
    if (this.#schemes.length === 0) return {};
    return {
      securitySchemes: Object.fromEntries(
        this.#schemes.map(({ name, securityScheme }) => [name, securityScheme]),
      ),
      securityRequirements: this.#schemes.map(({ name, requiredScopes }) => ({
        schemes: { [name]: { list: [...requiredScopes] } },
      })),
    };
  }

  /**
   * Returns the first caller with a principal. Accepts an anonymous caller only if no authentication scheme
   * rejects the credentials of the request.
   */
  async authenticate(request: AuthRequest): Promise<Caller> {
    const invalidSchemes = new Set<AuthScheme>();
    let scopeError: AuthChallengeError | undefined;
    let anonymousCaller: Caller | undefined;
    for (const method of this.#methods) {
      const result = await (typeof method === "function" ? method(request) : method.authenticate(request));
      if (!result) continue;
      if (typeof result === "object" && "principal" in result) {
        if (result.principal !== "") return result;
        anonymousCaller ??= result;
      } else if (typeof method === "function") continue;
      else if (result === "invalid" || "invalidReason" in result) {
        invalidSchemes.add(method);
        const reason =
          result === "invalid" ? "the credentials are unknown or malformed" : result.invalidReason;
        this.#observer.onCredentialsRejected?.({ scheme: method.name, reason });
      } else scopeError ??= createInsufficientScopeError(method, result.missingScopes);
    }
    if (anonymousCaller && !scopeError && invalidSchemes.size === 0) return anonymousCaller;
    throw scopeError ?? this.createUnauthenticatedError(invalidSchemes);
  }

  /**
   * Returns an authentication error. The message is the same for missing and invalid credentials, so that
   * attackers learn nothing from it.
   */
  createUnauthenticatedError(invalidSchemes: ReadonlySet<AuthScheme> = new Set()): AuthChallengeError {
    const challenges = this.#schemes.map((scheme) =>
      scheme.buildChallenge(invalidSchemes.has(scheme) ? "invalid_token" : undefined),
    );
    return createUnauthenticatedError(
      challenges.length > 0 ? [...new Set(challenges)].join(", ") : undefined,
    );
  }
}

function isAuthFunctionOrScheme(method: unknown): boolean {
  if (typeof method === "function") return true;
  return (
    typeof method === "object" && method !== null && "authenticate" in method && "buildChallenge" in method
  );
}

export function createUnauthenticatedError(challenge: string = `Bearer realm="a2a"`): AuthChallengeError {
  const text =
    "The request is not authenticated; send valid credentials of a scheme that the agent card declares.";
  return new AuthChallengeError("UNAUTHENTICATED", text, challenge);
}

function createInsufficientScopeError(scheme: AuthScheme, scopes: readonly string[]): AuthChallengeError {
  const text = `The credentials lack a scope that this agent requires; request the scope ${scopes.join(" ")}.`;
  return new AuthChallengeError("PERMISSION_DENIED", text, scheme.buildChallenge("insufficient_scope"));
}

/**
 * Returns the caller of a request. Rejects with UNAUTHENTICATED if `authenticate` returns no caller. On a server
 * without `authenticate`, all requests have the same anonymous caller, but limits apply to the network of each client.
 */
export function authenticateCaller(
  request: AuthRequest,
  authenticate: AuthenticateFunction | undefined,
): Caller | Promise<Caller> {
  return authenticate
    ? callAuthenticate(request, authenticate)
    : withNetworkOfAnonymousCaller({ tenant: "", principal: "" }, request.remoteAddress);
}

async function callAuthenticate(request: AuthRequest, authenticate: AuthenticateFunction): Promise<Caller> {
  const { method, path, query, remoteAddress } = request;
  // A plain object lets the `authenticate` function destructure its argument.
  const caller = await authenticate({
    method,
    path,
    query,
    header: (name) => request.header(name.toLowerCase()),
    certificate: () => request.certificate?.(),
    remoteAddress,
  });
  if (!caller) throw createUnauthenticatedError();
  return withNetworkOfAnonymousCaller(validateAndNormalizeCaller(caller), remoteAddress);
}

function withNetworkOfAnonymousCaller(caller: Caller, remoteAddress: string | undefined): Caller {
  if (caller.principal !== "") return caller;
  return { ...caller, anonymousNetwork: getAddressHolderKey(remoteAddress) };
}

/**
 * Validates the result of an `authenticate` function, because untyped code can return any value. If the
 * caller has no tenant, sets the tenant to `""`.
 */
function validateAndNormalizeCaller(caller: Caller): Caller {
  const { tenant, principal, contextScope }: { readonly [Name in keyof Caller]?: unknown } = caller;
  if (typeof principal !== "string" || (tenant !== undefined && typeof tenant !== "string"))
    throw new TypeError(
      `"authenticate" did not return a caller; return an object such as { tenant: "", principal: "ada" }.`,
    );
  if (contextScope !== undefined && !isContextScope(contextScope))
    throw new TypeError(
      `"authenticate" returned a caller with an invalid "contextScope"; set its member "contextIds" to a list of context ids.`,
    );
  return tenant === undefined ? { ...caller, tenant: "" } : caller;
}

/** Without this check, a mistake in untyped code could remove the limit. */
function isContextScope(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { contextIds, namespace, agentIds = [] } = value;
  return (
    isTextList(contextIds) && isTextList(agentIds) && (namespace === undefined || isNamespace(namespace))
  );
}

export function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === "string");
}

/** An empty namespace would contain all contexts whose ids begin with a dot. */
function isNamespace(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
