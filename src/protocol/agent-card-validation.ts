import type { AgentCard, AgentSkill, OAuthFlows, SecurityRequirement, SecurityScheme } from "./agent-card.ts";
import type { FieldViolation } from "./error.ts";

/** What of a card an agent says itself, and what is therefore its author's to get right. */
export type AgentCardContent = Pick<AgentCard, "name" | "description"> & Partial<AgentCard>;

/** Throws for a description that can not be an agent's card, with everything that is wrong with it. */
export function assertValidAgentCard(card: AgentCardContent): void {
  assertNoCardViolations(card.name, validateAgentCardContent(card));
}

/** Throws when there are violations. They are the author's of an agent, not its callers', so this is no A2AError. */
export function assertNoCardViolations(name: string, violations: readonly FieldViolation[]): void {
  if (violations.length === 0) return;
  const list = violations.map(({ field, description }) => `${field} ${description}`).join("; ");
  throw new Error(`The agent ${JSON.stringify(name ?? "")} describes itself wrongly: ${list}.`);
}

/**
 * What is wrong with what a card says, member by member: names that are missing or taken, URLs that are none, schemes
 * that nobody declares (where any are declared: a server may know of more). Empty when nothing is. That members are of
 * the right types is for the compiler or a decoder to see.
 */
export function validateAgentCardContent(card: AgentCardContent): FieldViolation[] {
  const { provider, capabilities, securitySchemes, skills = [] } = card;
  const found = new ViolationCollector();
  found.checkName("name", card.name);
  if (provider) found.checkUrl("provider.url", provider.url);
  found.checkUrl("documentationUrl", card.documentationUrl);
  found.checkUrl("iconUrl", card.iconUrl);
  found.checkMediaTypes("defaultInputModes", card.defaultInputModes);
  found.checkMediaTypes("defaultOutputModes", card.defaultOutputModes);
  found.checkUnique("skills", "id", skills);
  for (const [at, skill] of skills.entries())
    collectSkillViolations(found, `skills[${at}]`, skill, securitySchemes);
  const extensions = capabilities?.extensions ?? [];
  found.checkUnique("capabilities.extensions", "uri", extensions);
  for (const [at, { uri }] of extensions.entries()) {
    found.checkExtensionUri(`capabilities.extensions[${at}].uri`, uri);
  }
  for (const [name, scheme] of Object.entries(securitySchemes ?? {})) {
    collectSchemeViolations(found, `securitySchemes.${name}`, scheme);
  }
  found.checkSchemesDeclared("securityRequirements", card.securityRequirements, securitySchemes);
  return found.violations;
}

function collectSkillViolations(
  found: ViolationCollector,
  path: string,
  skill: AgentSkill,
  schemes: Readonly<Record<string, SecurityScheme>> | undefined,
): void {
  found.checkName(`${path}.id`, skill.id);
  found.checkName(`${path}.name`, skill.name);
  found.checkMediaTypes(`${path}.inputModes`, skill.inputModes);
  found.checkMediaTypes(`${path}.outputModes`, skill.outputModes);
  found.checkSchemesDeclared(`${path}.securityRequirements`, skill.securityRequirements, schemes);
}

const SECURITY_SCHEME_KINDS = [
  "apiKeySecurityScheme",
  "httpAuthSecurityScheme",
  "oauth2SecurityScheme",
  "openIdConnectSecurityScheme",
  "mtlsSecurityScheme",
] as const;

function collectSchemeViolations(found: ViolationCollector, path: string, scheme: SecurityScheme): void {
  const kinds = SECURITY_SCHEME_KINDS.filter((kind) => kind in scheme);
  if (kinds.length !== 1) found.add(path, `must be exactly one of ${SECURITY_SCHEME_KINDS.join(", ")}`);
  else if ("apiKeySecurityScheme" in scheme) {
    const { name, location } = scheme.apiKeySecurityScheme;
    found.checkName(`${path}.apiKeySecurityScheme.name`, name);
    if (!["query", "header", "cookie"].includes(location)) {
      found.add(`${path}.apiKeySecurityScheme.location`, `must be "query", "header" or "cookie"`);
    }
  } else if ("httpAuthSecurityScheme" in scheme) {
    found.checkName(`${path}.httpAuthSecurityScheme.scheme`, scheme.httpAuthSecurityScheme.scheme);
  } else if ("openIdConnectSecurityScheme" in scheme) {
    const { openIdConnectUrl } = scheme.openIdConnectSecurityScheme;
    found.checkName(`${path}.openIdConnectSecurityScheme.openIdConnectUrl`, openIdConnectUrl);
    found.checkUrl(`${path}.openIdConnectSecurityScheme.openIdConnectUrl`, openIdConnectUrl);
  } else if ("oauth2SecurityScheme" in scheme) {
    const { flows, oauth2MetadataUrl } = scheme.oauth2SecurityScheme;
    found.checkUrl(`${path}.oauth2SecurityScheme.oauth2MetadataUrl`, oauth2MetadataUrl);
    collectFlowViolations(found, `${path}.oauth2SecurityScheme.flows`, flows);
  }
}

const OAUTH_FLOW_NAMES = ["authorizationCode", "clientCredentials", "deviceCode", "implicit", "password"];
const OAUTH_FLOW_URL_FIELDS = ["authorizationUrl", "deviceAuthorizationUrl", "tokenUrl", "refreshUrl"];

function collectFlowViolations(found: ViolationCollector, path: string, flows: OAuthFlows): void {
  const [flow, ...others] = Object.entries(flows).filter(([name]) => OAUTH_FLOW_NAMES.includes(name));
  if (!flow || others.length > 0)
    return found.add(path, `must be exactly one of ${OAUTH_FLOW_NAMES.join(", ")}`);
  const [name, urls] = flow as [string, Readonly<Record<string, unknown>>];
  for (const member of OAUTH_FLOW_URL_FIELDS) found.checkUrl(`${path}.${name}.${member}`, urls[member]);
}

/** What was found so far. */
class ViolationCollector {
  readonly violations: FieldViolation[] = [];

  add(field: string, description: string): void {
    this.violations.push({ field, description });
  }

  checkName(field: string, value: unknown): void {
    if (typeof value !== "string" || value.trim() === "") this.add(field, "must not be empty");
  }

  /** An absent or empty URL is one that is not given. */
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

  /** It travels in a header, in a list with commas. */
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
      if (seen.has(value)) this.add(`${field}[${at}].${key}`, `${JSON.stringify(value)} is there twice`);
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

/** RFC 6838, with wildcards and parameters; and the words of the first cards. */
const MEDIA_TYPE_PATTERN =
  /^(?:[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+\s*(?:;.*)?|\*|text|data|file|image|audio|video)$/;
