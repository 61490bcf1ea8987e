import { A2AError, type AgentCard, type SecurityScheme, toBase64 } from "../../protocol/index.ts";
import type { ClientAuthOptions, AgentCredentials, OAuthClient } from "./client-auth.ts";

/** An authentication step that satisfies one security scheme of the agent card. */
export type SchemeAuthStep =
  | { readonly kind: "header" | "query" | "cookie"; readonly name: string; readonly value: string }
  | { readonly kind: "bearer"; readonly token: string | (() => string | Promise<string>) }
  | {
      readonly kind: "token";
      readonly oauthClient: OAuthClient;
      readonly endpointSource: TokenEndpointSource;
      readonly scopes: readonly string[];
    }
  | { readonly kind: "nothing" };

/**
 * The token endpoint that the agent card declares, or the URL of a metadata document that contains the token
 * endpoint.
 */
export type TokenEndpointSource = { readonly tokenUrl: string } | { readonly metadataUrl: string };

/** Agent card fields that describe authentication. */
export type AgentCardSecurity = Pick<AgentCard, "name" | "securitySchemes" | "securityRequirements">;

/** The schemes and scopes that one security requirement combines, by scheme name. */
type SecurityRequirementSchemes = ReadonlyMap<
  string,
  { readonly scheme: SecurityScheme | undefined; readonly scopes: readonly string[] }
>;

/**
 * Returns the alternative security requirements of an agent card, in the card's order. If the card declares
 * no security requirements, each declared scheme is an alternative.
 */
export function listAuthRequirements({
  securitySchemes = {},
  securityRequirements = [],
}: AgentCardSecurity): SecurityRequirementSchemes[] {
  const getScheme = (name: string): SecurityScheme | undefined =>
    Object.hasOwn(securitySchemes, name) ? securitySchemes[name] : undefined;
  if (securityRequirements.length === 0) {
    return Object.keys(securitySchemes).map(
      (name) => new Map([[name, { scheme: getScheme(name), scopes: [] }]]),
    );
  }
  return securityRequirements.map(
    ({ schemes }) =>
      new Map(
        Object.entries(schemes).map(([name, { list }]) => [name, { scheme: getScheme(name), scopes: list }]),
      ),
  );
}

/**
 * Returns the authentication steps for the first security requirement that the credentials satisfy. A client
 * must satisfy all schemes of at least one security requirement (A2A §7.3). If the card declares no security
 * schemes, the credentials are sent in standard headers. If the credentials satisfy no security requirement,
 * throws an `UNAUTHENTICATED` error that lists the accepted credentials.
 */
export function planAuthentication(
  card: AgentCardSecurity,
  auth: ClientAuthOptions,
): readonly SchemeAuthStep[] {
  assertValidCredentials(auth);
  const requirements = listAuthRequirements(card);
  if (requirements.length === 0) return createStandardHeaderAuthSteps(auth);
  for (const requirement of requirements) {
    const steps = [...requirement].map(([name, { scheme, scopes }]) => {
      const schemeCredentials =
        auth.schemeCredentials && Object.hasOwn(auth.schemeCredentials, name)
          ? auth.schemeCredentials[name]
          : undefined;
      return (
        scheme &&
        (findSchemeAuthStep(scheme, scopes, schemeCredentials) ?? findSchemeAuthStep(scheme, scopes, auth))
      );
    });
    // An empty requirement allows anonymous access. Configured credentials take precedence over it.
    if (steps.length > 0 && steps.every((step) => step !== undefined)) return steps;
  }
  if (requirements.some(({ size }) => size === 0)) return [];
  const message = `${JSON.stringify(card.name)} requires other credentials than those configured. It accepts ${formatRequirements(requirements)}.`;
  throw new A2AError("UNAUTHENTICATED", message);
}

function findSchemeAuthStep(
  scheme: SecurityScheme,
  scopes: readonly string[],
  credentials: AgentCredentials | undefined,
): SchemeAuthStep | undefined {
  const { apiKey, bearer, basic, oauthClient, mutualTls } = credentials ?? {};
  if ("apiKeySecurityScheme" in scheme) {
    const { location, name } = scheme.apiKeySecurityScheme;
    return apiKey === undefined || !isValidCredentialParameterName(location, name)
      ? undefined
      : { kind: location, name, value: apiKey };
  }
  if ("httpAuthSecurityScheme" in scheme) {
    const kind = scheme.httpAuthSecurityScheme.scheme.toLowerCase();
    if (kind === "bearer" && bearer !== undefined) return { kind: "bearer", token: bearer };
    return kind === "basic" && basic ? createBasicAuthStep(basic) : undefined;
  }
  if ("mtlsSecurityScheme" in scheme) return mutualTls ? { kind: "nothing" } : undefined;
  const endpointSource = findTokenEndpointSource(scheme);
  if (oauthClient && endpointSource)
    return { kind: "token", oauthClient, endpointSource, scopes: oauthClient.scopes ?? scopes };
  return bearer === undefined ? undefined : { kind: "bearer", token: bearer };
}

/**
 * Returns whether a name is valid for an HTTP header or cookie (RFC 9110 §5.6.2). Query parameters may have
 * any name.
 */
function isValidCredentialParameterName(location: "header" | "query" | "cookie", name: string): boolean {
  return location === "query" || /^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name);
}

function findTokenEndpointSource(scheme: SecurityScheme): TokenEndpointSource | undefined {
  if ("openIdConnectSecurityScheme" in scheme) {
    return { metadataUrl: scheme.openIdConnectSecurityScheme.openIdConnectUrl };
  }
  if (!("oauth2SecurityScheme" in scheme)) return undefined;
  const { flows, oauth2MetadataUrl } = scheme.oauth2SecurityScheme;
  if ("clientCredentials" in flows) return { tokenUrl: flows.clientCredentials.tokenUrl };
  return oauth2MetadataUrl ? { metadataUrl: oauth2MetadataUrl } : undefined;
}

function createStandardHeaderAuthSteps({ apiKey, bearer, basic }: ClientAuthOptions): SchemeAuthStep[] {
  const steps: SchemeAuthStep[] = [];
  if (apiKey !== undefined) steps.push({ kind: "header", name: "x-api-key", value: apiKey });
  if (bearer !== undefined) steps.push({ kind: "bearer", token: bearer });
  else if (basic) steps.push(createBasicAuthStep(basic));
  return steps;
}

function createBasicAuthStep({ username, password }: { username: string; password: string }): SchemeAuthStep {
  const credentials = new TextEncoder().encode(`${username}:${password}`);
  return { kind: "header", name: "authorization", value: `Basic ${toBase64(credentials)}` };
}

/**
 * Throws if the credentials contain characters that are invalid in an HTTP header. For invalid characters,
 * `fetch` would throw an error whose message contains the secret.
 */
function assertValidCredentials(auth: ClientAuthOptions): void {
  const schemeEntries = Object.entries(auth.schemeCredentials ?? {}).map(
    ([name, credentials]) => [`auth.schemeCredentials.${name}`, credentials] as const,
  );
  const entries = [["auth", auth] as const, ...schemeEntries];
  const violations = entries.flatMap(([path, { apiKey, bearer }]) =>
    Object.entries({ apiKey, bearer }).flatMap(([name, value]) =>
      typeof value === "string" && !/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)
        ? [
            {
              field: `${path}.${name}`,
              description: "must contain only visible ASCII characters; check for a line break at its end",
            },
          ]
        : [],
    ),
  );
  if (violations.length > 0) throw A2AError.invalidParams(violations);
}

/**
 * Formats the security requirements of an agent card for an error message. For each scheme, the text names
 * the client option that sets the credential.
 */
export function formatRequirements(requirements: readonly SecurityRequirementSchemes[]): string {
  return requirements
    .map((requirement) =>
      [...requirement]
        .map(([name, { scheme }]) => `${JSON.stringify(name)} (${formatSecurityScheme(scheme)})`)
        .join(" and "),
    )
    .join(", or ");
}

function formatSecurityScheme(scheme: SecurityScheme | undefined): string {
  if (!scheme) return "which the card does not define; set { auth } to a function that supports it";
  if ("apiKeySecurityScheme" in scheme) {
    const { location, name } = scheme.apiKeySecurityScheme;
    const description = `an API key as ${location} ${JSON.stringify(name)}`;
    return isValidCredentialParameterName(location, name)
      ? `${description}; set { auth: { apiKey } }`
      : `${description}, which is not a valid name; the card is invalid`;
  }
  if ("httpAuthSecurityScheme" in scheme) {
    const kind = scheme.httpAuthSecurityScheme.scheme.toLowerCase();
    if (kind === "bearer") return "a bearer token; set { auth: { bearer } }";
    if (kind === "basic") return "a username and password; set { auth: { basic } }";
    return `HTTP ${kind}; set { auth } to a function that supports it`;
  }
  if ("mtlsSecurityScheme" in scheme) {
    return "a client certificate; set { fetch } to a function that presents one, and { auth: { mutualTls: true } }";
  }
  const kind = "oauth2SecurityScheme" in scheme ? "OAuth 2.0" : "OpenID Connect";
  return findTokenEndpointSource(scheme)
    ? `${kind}; set { auth: { oauthClient: { id, secret } } }, or { auth: { bearer } } with your own token`
    : `${kind} with a user login; set { auth: { bearer } } to the user's token`;
}
