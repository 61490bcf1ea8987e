import type { AgentCard, SecurityScheme } from "../../protocol/index.ts";
import type { ConsoleSignInScheme } from "../api-types.ts";

type SignInKind = ConsoleSignInScheme["kind"];

/** The form of each kind of sign-in. Members of `values` in `ConsoleCredentials` have the names of the fields. */
const SIGN_IN_FIELDS: Readonly<Record<SignInKind, ConsoleSignInScheme["fields"]>> = {
  "api-key": [{ name: "apiKey", label: "API key", isSecret: true }],
  bearer: [{ name: "token", label: "Access token", isSecret: true }],
  basic: [
    { name: "username", label: "User name", isSecret: false },
    { name: "password", label: "Password", isSecret: true },
  ],
  "oauth-client-credentials": [
    { name: "clientId", label: "Client id", isSecret: false },
    { name: "clientSecret", label: "Client secret", isSecret: true },
    {
      name: "issuer",
      label: "URL of the authorization server, if it is not the agent's host",
      isSecret: false,
    },
    { name: "token", label: "Access token, instead of a client id and a client secret", isSecret: true },
  ],
  "oauth-device": [],
  unsupported: [],
};

/** Prefix of the names of schemes that no card declares. The client sends their credentials in standard headers. */
const STANDARD_SCHEME_PREFIX = "standard:";

const STANDARD_SCHEMES: readonly ConsoleSignInScheme[] = [
  createStandardScheme("bearer", "Header Authorization: Bearer"),
  createStandardScheme("api-key", "Header x-api-key"),
  createStandardScheme("basic", "Header Authorization: Basic"),
];

/** Returns whether a scheme is not part of a card. */
export function isStandardScheme(name: string): boolean {
  return name.startsWith(STANDARD_SCHEME_PREFIX);
}

/**
 * Returns the ways to sign in that a card declares, in the card's order. Schemes of security requirements come first. If
 * the card is unknown or declares no schemes, returns the ways that use standard headers, for agents that reject
 * requests nevertheless.
 */
export function listSignInSchemes(
  card: Pick<AgentCard, "securitySchemes" | "securityRequirements"> | undefined,
): readonly ConsoleSignInScheme[] {
  const schemes = new Map(Object.entries(card?.securitySchemes ?? {}));
  if (schemes.size === 0) return STANDARD_SCHEMES;
  const required = (card?.securityRequirements ?? []).flatMap((requirement) =>
    Object.keys(requirement.schemes),
  );
  return [...new Set([...required, ...schemes.keys()])].flatMap((name) => {
    const scheme = schemes.get(name);
    return scheme ? [createSignInScheme(name, scheme)] : [];
  });
}

function createSignInScheme(scheme: string, declared: SecurityScheme): ConsoleSignInScheme {
  const kind = findSignInKind(declared);
  const [{ description }] = Object.values(declared) as [{ description?: string }];
  return { scheme, kind, ...(description ? { description } : {}), fields: SIGN_IN_FIELDS[kind] };
}

function createStandardScheme(kind: SignInKind, description: string): ConsoleSignInScheme {
  return { scheme: STANDARD_SCHEME_PREFIX + kind, kind, description, fields: SIGN_IN_FIELDS[kind] };
}

/** Flows that need a browser or a second device end in a token, which the user enters as a bearer token. */
function findSignInKind(scheme: SecurityScheme): SignInKind {
  if ("apiKeySecurityScheme" in scheme) return "api-key";
  if ("httpAuthSecurityScheme" in scheme) {
    const kind = scheme.httpAuthSecurityScheme.scheme.toLowerCase();
    return kind === "bearer" || kind === "basic" ? kind : "unsupported";
  }
  if ("mtlsSecurityScheme" in scheme) return "unsupported";
  if ("openIdConnectSecurityScheme" in scheme) return "oauth-client-credentials";
  return "clientCredentials" in scheme.oauth2SecurityScheme.flows ? "oauth-client-credentials" : "bearer";
}
