import { isObject } from "../../../protocol/index.ts";
import type { ConsoleSignInScheme } from "../../console-api/index.ts";

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
  headers: [
    {
      name: "headers",
      label: "Headers, one per line, such as X-Tenant: acme",
      isSecret: false,
      isLong: true,
    },
  ],
  unsupported: [],
};

/** Prefix of the names of schemes that no card declares. The client sends their credentials in standard headers. */
const STANDARD_SCHEME_PREFIX = "standard:";

const STANDARD_SCHEMES: readonly ConsoleSignInScheme[] = [
  createStandardScheme("bearer", "Header Authorization: Bearer"),
  createStandardScheme("api-key", "Header x-api-key"),
  createStandardScheme("basic", "Header Authorization: Basic"),
];

/** Headers for gateways, which no card declares. */
export const HEADERS_SCHEME: ConsoleSignInScheme = createStandardScheme(
  "headers",
  "Sent with each request to the origin of the agent's URL",
);

/** Returns whether a scheme is not part of a card. */
export function isStandardScheme(name: string): boolean {
  return name.startsWith(STANDARD_SCHEME_PREFIX);
}

/**
 * Returns the ways to sign in that a card declares, in the card's order. Schemes of security requirements come first. If
 * the card is unknown or declares no schemes, returns the ways that use standard headers, for agents that reject
 * requests nevertheless. The card may be invalid, because an agent can send any JSON.
 */
export function listSignInSchemes(
  card: { readonly securitySchemes?: unknown; readonly securityRequirements?: unknown } | undefined,
): readonly ConsoleSignInScheme[] {
  const schemes = new Map(Object.entries(toObject(card?.securitySchemes)));
  if (schemes.size === 0) return STANDARD_SCHEMES;
  const requirements = Array.isArray(card?.securityRequirements) ? card.securityRequirements : [];
  const required = requirements.flatMap((one: unknown) => Object.keys(toObject(toObject(one)["schemes"])));
  return [...new Set([...required, ...schemes.keys()])]
    .filter((name) => schemes.has(name))
    .map((name) => createSignInScheme(name, toObject(schemes.get(name))));
}

function createSignInScheme(scheme: string, declared: Record<string, unknown>): ConsoleSignInScheme {
  const kind = findSignInKind(declared);
  const { description } = toObject(Object.values(declared)[0]);
  return {
    scheme,
    kind,
    ...(typeof description === "string" && description !== "" ? { description } : {}),
    fields: SIGN_IN_FIELDS[kind],
  };
}

function createStandardScheme(kind: SignInKind, description: string): ConsoleSignInScheme {
  return { scheme: STANDARD_SCHEME_PREFIX + kind, kind, description, fields: SIGN_IN_FIELDS[kind] };
}

/**
 * Flows that need a browser or a second device end in a token, which the user enters as a bearer token. The client sends
 * a bearer token for a scheme that it does not know.
 */
function findSignInKind(declared: Record<string, unknown>): SignInKind {
  if ("apiKeySecurityScheme" in declared) return "api-key";
  if ("httpAuthSecurityScheme" in declared) {
    const { scheme } = toObject(declared["httpAuthSecurityScheme"]);
    const kind = typeof scheme === "string" ? scheme.toLowerCase() : "";
    return kind === "bearer" || kind === "basic" ? kind : "unsupported";
  }
  if ("mtlsSecurityScheme" in declared) return "unsupported";
  if ("openIdConnectSecurityScheme" in declared) return "oauth-client-credentials";
  const { flows } = toObject(declared["oauth2SecurityScheme"]);
  return "clientCredentials" in toObject(flows) ? "oauth-client-credentials" : "bearer";
}

function toObject(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
