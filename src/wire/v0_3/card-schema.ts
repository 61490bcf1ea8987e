import type {
  AgentCapabilities,
  AgentCard,
  AgentCardSignature,
  AgentExtension,
  AgentInterface,
  AgentProvider,
  AgentSkill,
  OAuthFlows,
  SecurityRequirement,
  SecurityScheme,
} from "../../protocol/index.ts";
import { createConvertingSchema, createListSchema, createMapSchema } from "../composite-schemas.ts";
import { createObjectSchema, optional, required } from "../object-schema.ts";
import { type DecodingSchema } from "../proto-json-schema.ts";
import { boolSchema, stringSchema, structSchema, createMappedEnumSchema } from "../scalar-schemas.ts";

// Schemas that decode the agent card of A2A 0.3 into the 1.0 model. Only cards of other agents are decoded,
// so nearly every member has a fallback.

const requiredText = required(stringSchema, "");
const requiredTextList = required(createListSchema(stringSchema), []);

interface AnyOAuthFlow {
  authorizationUrl: string;
  tokenUrl: string;
  refreshUrl?: string;
  scopes: Record<string, string>;
}

const ANY_OAUTH_FLOW_SCHEMA: DecodingSchema<AnyOAuthFlow> = createObjectSchema<AnyOAuthFlow>({
  authorizationUrl: requiredText,
  tokenUrl: requiredText,
  refreshUrl: stringSchema,
  scopes: required(createMapSchema(stringSchema), {}),
});

interface OAuthFlowsByType {
  authorizationCode?: AnyOAuthFlow;
  clientCredentials?: AnyOAuthFlow;
  implicit?: AnyOAuthFlow;
  password?: AnyOAuthFlow;
}

/**
 * Converts the OAuth flows of A2A 0.3 to A2A 1.0. A 0.3 card may offer several OAuth flows, but 1.0 allows
 * only one flow. The conversion keeps the most secure flow.
 */
function fromOAuthFlows03({
  authorizationCode,
  clientCredentials,
  implicit,
  password,
}: OAuthFlowsByType): OAuthFlows {
  if (authorizationCode) return { authorizationCode };
  if (clientCredentials) return { clientCredentials: omitAuthorizationUrlFromOAuthFlow(clientCredentials) };
  if (implicit) {
    const { tokenUrl: _, ...flow } = implicit;
    return { implicit: flow };
  }
  return password ? { password: omitAuthorizationUrlFromOAuthFlow(password) } : ({} as OAuthFlows);
}

function omitAuthorizationUrlFromOAuthFlow(flow: AnyOAuthFlow): Omit<AnyOAuthFlow, "authorizationUrl"> {
  const { authorizationUrl: _, ...rest } = flow;
  return rest;
}

/** A 0.3 security scheme of any type, with the members of all types. */
interface AnySecurityScheme03 {
  type: SecuritySchemeType;
  description?: string;
  in: "query" | "header" | "cookie";
  name: string;
  scheme: string;
  bearerFormat?: string;
  flows: OAuthFlows;
  oauth2MetadataUrl?: string;
  openIdConnectUrl: string;
}

type SecuritySchemeType = "apiKey" | "http" | "oauth2" | "openIdConnect" | "mutualTLS";

const ANY_SECURITY_SCHEME_SCHEMA: DecodingSchema<AnySecurityScheme03> =
  createObjectSchema<AnySecurityScheme03>({
    type: required(
      createMappedEnumSchema({
        apiKey: "apiKey",
        http: "http",
        oauth2: "oauth2",
        openIdConnect: "openIdConnect",
        mutualTLS: "mutualTLS",
      }),
    ),
    description: stringSchema,
    in: required(createMappedEnumSchema({ query: "query", header: "header", cookie: "cookie" }), "header"),
    name: requiredText,
    scheme: requiredText,
    bearerFormat: stringSchema,
    flows: required(
      createConvertingSchema(
        createObjectSchema<OAuthFlowsByType>({
          authorizationCode: ANY_OAUTH_FLOW_SCHEMA,
          clientCredentials: ANY_OAUTH_FLOW_SCHEMA,
          implicit: ANY_OAUTH_FLOW_SCHEMA,
          password: ANY_OAUTH_FLOW_SCHEMA,
        }),
        fromOAuthFlows03,
      ),
      {},
    ),
    oauth2MetadataUrl: stringSchema,
    openIdConnectUrl: requiredText,
  });

const SECURITY_SCHEME_CONVERTERS_FROM_03: Readonly<
  Record<SecuritySchemeType, (scheme: AnySecurityScheme03) => SecurityScheme>
> = {
  apiKey: ({ in: location, name, ...rest }) => ({
    apiKeySecurityScheme: { location, name, ...pickSchemeDescription(rest) },
  }),
  http: ({ scheme, bearerFormat, ...rest }) => ({
    httpAuthSecurityScheme: {
      scheme,
      ...(bearerFormat === undefined ? {} : { bearerFormat }),
      ...pickSchemeDescription(rest),
    },
  }),
  oauth2: ({ flows, oauth2MetadataUrl, ...rest }) => ({
    oauth2SecurityScheme: {
      flows,
      ...(oauth2MetadataUrl === undefined ? {} : { oauth2MetadataUrl }),
      ...pickSchemeDescription(rest),
    },
  }),
  openIdConnect: ({ openIdConnectUrl, ...rest }) => ({
    openIdConnectSecurityScheme: { openIdConnectUrl, ...pickSchemeDescription(rest) },
  }),
  mutualTLS: (scheme) => ({ mtlsSecurityScheme: pickSchemeDescription(scheme) }),
};

function pickSchemeDescription({ description }: { description?: string }): { description?: string } {
  return description === undefined ? {} : { description };
}

const SECURITY_SCHEME_SCHEMA: DecodingSchema<SecurityScheme> = createConvertingSchema(
  ANY_SECURITY_SCHEME_SCHEMA,
  (scheme) => SECURITY_SCHEME_CONVERTERS_FROM_03[scheme.type](scheme),
);

const SECURITY_REQUIREMENT_SCHEMA: DecodingSchema<SecurityRequirement> = createConvertingSchema(
  createMapSchema(createListSchema(stringSchema)),
  (scopes) => ({
    schemes: Object.fromEntries(Object.entries(scopes).map(([name, list]) => [name, { list }])),
  }),
);

const createAgentSkillSchema03 = (
  security: DecodingSchema<SecurityRequirement>,
): DecodingSchema<AgentSkill> =>
  createObjectSchema<AgentSkill>(
    {
      id: requiredText,
      name: requiredText,
      description: requiredText,
      tags: requiredTextList,
      examples: createListSchema(stringSchema),
      inputModes: createListSchema(stringSchema),
      outputModes: createListSchema(stringSchema),
      securityRequirements: createListSchema(security),
    },
    { wireNames: { securityRequirements: ["security"] } },
  );

/** Members of a 0.3 agent card that have a different location in 1.0. */
interface CardFieldsLocatedElsewhereIn03 {
  protocolVersion: string;
  url: string;
  preferredTransport: string;
  additionalInterfaces?: { url: string; transport: string }[];
  supportsAuthenticatedExtendedCard?: boolean;
}

/**
 * Creates the schema for a 0.3 agent card. Security schemes and requirements have different formats in the
 * JSON and in the proto of 0.3.
 */
export const createAgentCardSchema03 = ({
  scheme,
  security,
}: {
  scheme: DecodingSchema<SecurityScheme>;
  security: DecodingSchema<SecurityRequirement>;
}): DecodingSchema<AgentCard> =>
  createConvertingSchema(
    createObjectSchema<Omit<AgentCard, "supportedInterfaces"> & CardFieldsLocatedElsewhereIn03>(
      {
        protocolVersion: required(stringSchema, "0.3.0"),
        name: requiredText,
        description: requiredText,
        url: requiredText,
        preferredTransport: required(stringSchema, "JSONRPC"),
        additionalInterfaces: createListSchema(
          createObjectSchema<{ url: string; transport: string }>({
            url: requiredText,
            transport: requiredText,
          }),
        ),
        provider: createObjectSchema<AgentProvider>({ url: requiredText, organization: requiredText }),
        version: requiredText,
        documentationUrl: optional(stringSchema),
        capabilities: required(
          createObjectSchema<Omit<AgentCapabilities, "extendedAgentCard">>({
            streaming: optional(boolSchema),
            pushNotifications: optional(boolSchema),
            extensions: createListSchema(
              createObjectSchema<AgentExtension>({
                uri: requiredText,
                description: stringSchema,
                required: boolSchema,
                params: structSchema,
              }),
            ),
          }),
          {},
        ),
        securitySchemes: createMapSchema(scheme),
        securityRequirements: createListSchema(security),
        defaultInputModes: requiredTextList,
        defaultOutputModes: requiredTextList,
        skills: required(createListSchema(createAgentSkillSchema03(security)), []),
        supportsAuthenticatedExtendedCard: optional(boolSchema),
        signatures: createListSchema(
          createObjectSchema<AgentCardSignature>({
            protected: requiredText,
            signature: requiredText,
            header: structSchema,
          }),
        ),
        iconUrl: optional(stringSchema),
      },
      { wireNames: { securityRequirements: ["security"] } },
    ),
    ({
      protocolVersion,
      url,
      preferredTransport,
      additionalInterfaces = [],
      supportsAuthenticatedExtendedCard: extendedAgentCard,
      capabilities,
      ...card
    }) => ({
      ...card,
      supportedInterfaces: mergeInterfaces(
        [{ url, transport: preferredTransport }, ...additionalInterfaces],
        protocolVersion,
      ),
      capabilities: { ...capabilities, ...(extendedAgentCard === undefined ? {} : { extendedAgentCard }) },
    }),
  );

/** Schema for an agent card in the JSON of A2A 0.3. */
export const AGENT_CARD_SCHEMA: DecodingSchema<AgentCard> = createAgentCardSchema03({
  scheme: SECURITY_SCHEME_SCHEMA,
  security: SECURITY_REQUIREMENT_SCHEMA,
});

/**
 * Merges the interfaces of a 0.3 card into one list that starts with the main interface. The function
 * removes duplicates, because 0.3 recommends listing the main interface again under the additional
 * interfaces.
 */
function mergeInterfaces(
  declared: readonly { url: string; transport: string }[],
  protocolVersion: string,
): AgentInterface[] {
  const interfaces = new Map<string, AgentInterface>();
  for (const { url, transport } of declared) {
    const key = `${transport} ${url}`;
    // 0.3 cards include the patch in their version. 1.0 omits the patch.
    const [, version = protocolVersion] = /^(\d+\.\d+)\./.exec(protocolVersion) ?? [];
    if (url !== "" && !interfaces.has(key))
      interfaces.set(key, { url, protocolBinding: transport, protocolVersion: version });
  }
  return [...interfaces.values()];
}
