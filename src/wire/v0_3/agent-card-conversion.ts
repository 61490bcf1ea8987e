import type {
  AgentCard,
  AgentSkill,
  OAuthFlows,
  SecurityRequirement,
  SecurityScheme,
} from "../../protocol/index.ts";
import type { Card03, OAuthFlows03, SecurityRequirement03, SecurityScheme03, Skill03 } from "./types.ts";

/**
 * Converts an agent card to 0.3. The result contains only the 0.3 interfaces of the card. The 0.3 card has
 * no signatures, because the signatures cover the 1.0 text.
 */
export function toCard03(card: AgentCard): Card03 {
  const {
    supportedInterfaces,
    securityRequirements,
    securitySchemes,
    capabilities,
    skills,
    signatures: _,
    ...rest
  } = card;
  const { extendedAgentCard, ...capabilities03 } = capabilities;
  const interfaces = supportedInterfaces
    .filter(({ protocolVersion }) => protocolVersion === "0.3")
    .map(({ url, protocolBinding }) => ({ url, transport: protocolBinding }));
  const [preferred = { url: "", transport: "JSONRPC" }] = interfaces;
  return {
    protocolVersion: "0.3.0",
    ...rest,
    url: preferred.url,
    preferredTransport: preferred.transport,
    additionalInterfaces: interfaces,
    capabilities: capabilities03,
    skills: skills.map(toSkill03),
    ...(extendedAgentCard === undefined ? {} : { supportsAuthenticatedExtendedCard: extendedAgentCard }),
    ...(securitySchemes ? { securitySchemes: mapValues(securitySchemes, toSecurityScheme03) } : {}),
    ...(securityRequirements ? { security: securityRequirements.map(toSecurityRequirement03) } : {}),
  };
}

/**
 * Merges the 0.3 form and the 1.0 form of an agent card into one object. Clients of either version find all
 * members that they need, and ignore the other members. The merged card has no signatures, because a
 * signature covers the text of only one version.
 */
export function toHybridCard(card: AgentCard): HybridCard {
  const { signatures: _, securitySchemes, ...v1 } = card;
  const { securitySchemes: _schemes, ...v03 } = toCard03(card);
  return {
    ...v03,
    ...v1,
    skills: card.skills.map((skill) => ({ ...toSkill03(skill), ...skill })),
    ...(securitySchemes
      ? {
          securitySchemes: mapValues(securitySchemes, (scheme) => ({
            ...toSecurityScheme03(scheme),
            ...scheme,
          })),
        }
      : {}),
  };
}

/** An agent card that is valid in A2A 0.3 and 1.0. */
type HybridCard = Omit<AgentCard & Card03, "securitySchemes" | "capabilities"> & {
  capabilities: AgentCard["capabilities"];
  securitySchemes?: Record<string, SecurityScheme & SecurityScheme03>;
};

function toSkill03({ securityRequirements, ...skill }: AgentSkill): Skill03 {
  return securityRequirements
    ? { ...skill, security: securityRequirements.map(toSecurityRequirement03) }
    : skill;
}

function toSecurityRequirement03({ schemes }: SecurityRequirement): SecurityRequirement03 {
  return mapValues(schemes, ({ list }) => list);
}

function toSecurityScheme03(scheme: SecurityScheme): SecurityScheme03 {
  if ("apiKeySecurityScheme" in scheme) {
    const { location, ...rest } = scheme.apiKeySecurityScheme;
    return { type: "apiKey", in: location, ...rest };
  }
  if ("httpAuthSecurityScheme" in scheme) return { type: "http", ...scheme.httpAuthSecurityScheme };
  if ("oauth2SecurityScheme" in scheme) {
    const { flows, ...rest } = scheme.oauth2SecurityScheme;
    return { type: "oauth2", flows: toOAuthFlows03(flows), ...rest };
  }
  if ("openIdConnectSecurityScheme" in scheme)
    return { type: "openIdConnect", ...scheme.openIdConnectSecurityScheme };
  return { type: "mutualTLS", ...scheme.mtlsSecurityScheme };
}

/**
 * Converts OAuth flows of 1.0 to 0.3. The conversion omits the device flow and the PKCE requirement,
 * because 0.3 has neither.
 */
export function toOAuthFlows03(flows: OAuthFlows): OAuthFlows03 {
  if ("authorizationCode" in flows) {
    const { pkceRequired: _, ...flow } = flows.authorizationCode;
    return { authorizationCode: flow };
  }
  if ("clientCredentials" in flows) return { clientCredentials: flows.clientCredentials };
  if ("implicit" in flows) return { implicit: { authorizationUrl: "", scopes: {}, ...flows.implicit } };
  return "password" in flows ? { password: { tokenUrl: "", scopes: {}, ...flows.password } } : {};
}

/** Applies a function to every value of an object. */
export function mapValues<A, B>(
  object: Readonly<Record<string, A>>,
  mapValue: (value: A) => B,
): Record<string, B> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, mapValue(value)]));
}
