import type { AgentCard, AgentSkill, OAuthFlows, SecurityRequirement, SecurityScheme } from "./agent-card.ts";
import type { FieldViolation } from "./error.ts";

/** The part of an agent card that the agent's author provides. */
type AuthorProvidedAgentCard = Pick<AgentCard, "name" | "description"> & Partial<AgentCard>;

/** If an agent card is invalid, throws an error that lists every violation. */
export function assertValidAgentCard(card: AuthorProvidedAgentCard): void {
  assertNoCardViolations(card.name, validateAgentCardContent(card));
}

/**
 * Throws an `Error` if `violations` is not empty. The error is not an `A2AError`, because the author of the
 * agent, and not a caller, caused the violations.
 */
export function assertNoCardViolations(name: string, violations: readonly FieldViolation[]): void {
  if (violations.length === 0) return;
  const list = violations.map(({ field, description }) => `${field} ${description}`).join("; ");
  throw new Error(`The agent ${JSON.stringify(name ?? "")} has an invalid description: ${list}.`);
}

/**
 * Returns an array of all violations in the content of an agent card, each with its path. The validation
 * covers empty names, duplicates, URLs, media types, and references to security schemes. If the card declares
 * no security schemes, references to schemes are not checked, because the server may declare the schemes. The
 * types of card members are not validated, because the compiler or a decoder checks the types.
 */
export function validateAgentCardContent(card: AuthorProvidedAgentCard): FieldViolation[] {
  const { provider, capabilities, securitySchemes, skills = [] } = card;
  const collector = new ViolationCollector();
  collector.checkName("name", card.name);
  collector.checkText("description", card.description);
  if (provider) collector.checkUrl("provider.url", provider.url);
  collector.checkUrl("documentationUrl", card.documentationUrl);
  collector.checkUrl("iconUrl", card.iconUrl);
  collector.checkMediaTypes("defaultInputModes", card.defaultInputModes);
  collector.checkMediaTypes("defaultOutputModes", card.defaultOutputModes);
  collector.checkUnique("skills", "id", skills);
  for (const [index, skill] of skills.entries())
    collectSkillViolations(collector, `skills[${index}]`, skill, securitySchemes);
  const extensions = capabilities?.extensions ?? [];
  collector.checkUnique("capabilities.extensions", "uri", extensions);
  for (const [index, { uri }] of extensions.entries()) {
    collector.checkExtensionUri(`capabilities.extensions[${index}].uri`, uri);
  }
  for (const [name, scheme] of Object.entries(securitySchemes ?? {})) {
    collectSecuritySchemeViolations(collector, `securitySchemes.${name}`, scheme);
  }
  collector.checkSchemesDeclared("securityRequirements", card.securityRequirements, securitySchemes);
  return collector.violations;
}

function collectSkillViolations(
  collector: ViolationCollector,
  path: string,
  skill: AgentSkill,
  schemes: Readonly<Record<string, SecurityScheme>> | undefined,
): void {
  collector.checkName(`${path}.id`, skill.id);
  collector.checkName(`${path}.name`, skill.name);
  collector.checkText(`${path}.description`, skill.description);
  if (!Array.isArray(skill.tags)) collector.add(`${path}.tags`, "must be a list of texts");
  collector.checkMediaTypes(`${path}.inputModes`, skill.inputModes);
  collector.checkMediaTypes(`${path}.outputModes`, skill.outputModes);
  collector.checkSchemesDeclared(`${path}.securityRequirements`, skill.securityRequirements, schemes);
}

const SECURITY_SCHEME_KINDS = [
  "apiKeySecurityScheme",
  "httpAuthSecurityScheme",
  "oauth2SecurityScheme",
  "openIdConnectSecurityScheme",
  "mtlsSecurityScheme",
] as const;

function collectSecuritySchemeViolations(
  collector: ViolationCollector,
  path: string,
  scheme: SecurityScheme,
): void {
  const kinds = SECURITY_SCHEME_KINDS.filter((kind) => kind in scheme);
  if (kinds.length !== 1) collector.add(path, `must be exactly one of ${SECURITY_SCHEME_KINDS.join(", ")}`);
  else if ("apiKeySecurityScheme" in scheme) {
    const { name, location } = scheme.apiKeySecurityScheme;
    collector.checkName(`${path}.apiKeySecurityScheme.name`, name);
    if (!["query", "header", "cookie"].includes(location)) {
      collector.add(`${path}.apiKeySecurityScheme.location`, `must be "query", "header", or "cookie"`);
    }
  } else if ("httpAuthSecurityScheme" in scheme) {
    collector.checkName(`${path}.httpAuthSecurityScheme.scheme`, scheme.httpAuthSecurityScheme.scheme);
  } else if ("openIdConnectSecurityScheme" in scheme) {
    const { openIdConnectUrl } = scheme.openIdConnectSecurityScheme;
    collector.checkName(`${path}.openIdConnectSecurityScheme.openIdConnectUrl`, openIdConnectUrl);
    collector.checkUrl(`${path}.openIdConnectSecurityScheme.openIdConnectUrl`, openIdConnectUrl);
  } else if ("oauth2SecurityScheme" in scheme) {
    const { flows, oauth2MetadataUrl } = scheme.oauth2SecurityScheme;
    collector.checkUrl(`${path}.oauth2SecurityScheme.oauth2MetadataUrl`, oauth2MetadataUrl);
    collectFlowViolations(collector, `${path}.oauth2SecurityScheme.flows`, flows);
  }
}

const OAUTH_FLOW_NAMES = ["authorizationCode", "clientCredentials", "deviceCode", "implicit", "password"];
const OAUTH_FLOW_URL_FIELDS = ["authorizationUrl", "deviceAuthorizationUrl", "tokenUrl", "refreshUrl"];

function collectFlowViolations(collector: ViolationCollector, path: string, flows: OAuthFlows): void {
  const [flow, ...others] = Object.entries(flows).filter(([name]) => OAUTH_FLOW_NAMES.includes(name));
  if (!flow || others.length > 0)
    return collector.add(path, `must be exactly one of ${OAUTH_FLOW_NAMES.join(", ")}`);
  const [name, urls] = flow as [string, Readonly<Record<string, unknown>>];
  for (const member of OAUTH_FLOW_URL_FIELDS) collector.checkUrl(`${path}.${name}.${member}`, urls[member]);
}

class ViolationCollector {
  readonly violations: FieldViolation[] = [];

  add(field: string, description: string): void {
    this.violations.push({ field, description });
  }

  checkName(field: string, value: unknown): void {
    if (typeof value !== "string" || value.trim() === "") this.add(field, "must not be empty");
  }

  checkText(field: string, value: unknown): void {
    if (typeof value !== "string") this.add(field, "must be a text");
  }

  /** Accepts a URL, an absent URL, or an empty string. */
  checkUrl(field: string, value: unknown): void {
    if (value === undefined || value === "") return;
    if (typeof value === "string" && /^https?:\/\//i.test(value) && URL.canParse(value)) return;
    this.add(field, `must be an http or https URL, not ${JSON.stringify(value)}`);
  }

  checkMediaTypes(field: string, values: readonly string[] = []): void {
    for (const [at, value] of values.entries()) {
      if (MEDIA_TYPE_PATTERN.test(value)) continue;
      this.add(`${field}[${at}]`, `must be a media type such as "text/plain", not ${JSON.stringify(value)}`);
    }
  }

  /**
   * Rejects extension URIs that contain spaces or commas, because the `A2A-Extensions` header is a
   * comma-separated list.
   */
  checkExtensionUri(field: string, value: string): void {
    if (/^[\x21-\x2b\x2d-\x7e]+$/.test(value)) return;
    this.add(field, `must be a URI without spaces and commas, not ${JSON.stringify(value)}`);
  }

  checkUnique<Key extends string>(
    field: string,
    key: Key,
    items: readonly Readonly<Record<Key, string>>[],
  ): void {
    const seen = new Set<string>();
    for (const [at, { [key]: value }] of items.entries()) {
      if (seen.has(value))
        this.add(`${field}[${at}].${key}`, `${JSON.stringify(value)} is used more than once`);
      seen.add(value);
    }
  }

  checkSchemesDeclared(
    field: string,
    requirements: readonly SecurityRequirement[] = [],
    declared: Readonly<Record<string, SecurityScheme>> | undefined,
  ): void {
    if (!declared) return;
    for (const [at, { schemes }] of requirements.entries()) {
      for (const name of Object.keys(schemes)) {
        if (Object.hasOwn(declared, name)) continue;
        this.add(`${field}[${at}].schemes.${name}`, "is not among the card's securitySchemes");
      }
    }
  }
}

/**
 * Matches a media type (RFC 6838) with optional wildcards and parameters, or a legacy mode such as `text` or
 * `image`.
 */
const MEDIA_TYPE_PATTERN =
  /^(?:[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+\s*(?:;.*)?|\*|text|data|file|image|audio|video)$/;
