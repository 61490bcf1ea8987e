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
import { withDefault, createObjectSchema, defineOneofMember, optional, required } from "../object-schema.ts";
import { type DecodingSchema } from "../proto-json-schema.ts";
import { boolSchema, createEnumSchema, stringSchema, structSchema } from "../scalar-schemas.ts";

// Schemas of the agent card messages of `a2a.proto` 1.0. Nearly every member has a fallback, because an agent
// is usable even if its card lacks, for example, a description. `required` marks the members that the proto
// calls REQUIRED, because card signatures depend on them (A2A §8.4.1).

type UnionVariantContent<Union, Key extends PropertyKey> =
  Union extends Record<Key, infer Content> ? Content : never;
type SecuritySchemeVariantContent<Key extends PropertyKey> = UnionVariantContent<SecurityScheme, Key>;
type OAuthFlowVariantContent<Key extends PropertyKey> = UnionVariantContent<OAuthFlows, Key>;

const requiredText = required(stringSchema, "");
const requiredOAuthScopesField = required(createMapSchema(stringSchema), {});

const OAUTH_FLOWS_SCHEMA: DecodingSchema<OAuthFlows> = createObjectSchema<OAuthFlows>({
  authorizationCode: defineOneofMember(
    createObjectSchema<OAuthFlowVariantContent<"authorizationCode">>({
      authorizationUrl: requiredText,
      tokenUrl: requiredText,
      refreshUrl: stringSchema,
      scopes: requiredOAuthScopesField,
      pkceRequired: boolSchema,
    }),
  ),
  clientCredentials: defineOneofMember(
    createObjectSchema<OAuthFlowVariantContent<"clientCredentials">>({
      tokenUrl: requiredText,
      refreshUrl: stringSchema,
      scopes: requiredOAuthScopesField,
    }),
  ),
  deviceCode: defineOneofMember(
    createObjectSchema<OAuthFlowVariantContent<"deviceCode">>({
      deviceAuthorizationUrl: requiredText,
      tokenUrl: requiredText,
      refreshUrl: stringSchema,
      scopes: requiredOAuthScopesField,
    }),
  ),
  implicit: defineOneofMember(
    createObjectSchema<OAuthFlowVariantContent<"implicit">>({
      authorizationUrl: stringSchema,
      refreshUrl: stringSchema,
      scopes: createMapSchema(stringSchema),
    }),
  ),
  password: defineOneofMember(
    createObjectSchema<OAuthFlowVariantContent<"password">>({
      tokenUrl: stringSchema,
      refreshUrl: stringSchema,
      scopes: createMapSchema(stringSchema),
    }),
  ),
});

type ApiKeyLocation = SecuritySchemeVariantContent<"apiKeySecurityScheme">["location"];

const KNOWN_API_KEY_LOCATION_SCHEMA: DecodingSchema<ApiKeyLocation> = createEnumSchema([
  "",
  "query",
  "header",
  "cookie",
]);

/**
 * Schema for the location of an API key. In the A2A proto, the location is a string. The canonical form of
 * a card keeps the location string unchanged. In tolerant mode, an unknown location decodes to `header`,
 * which most servers use.
 */
const API_KEY_LOCATION_SCHEMA: DecodingSchema<ApiKeyLocation> = {
  decode(json, at) {
    if (!at.fillsDefaults) return stringSchema.decode(json, at) as ApiKeyLocation | undefined;
    return KNOWN_API_KEY_LOCATION_SCHEMA.decode(json, at) ?? (at.isStrict ? undefined : "header");
  },
};

/** Schema for a security scheme: a oneof with one member for each scheme type. */
export const SECURITY_SCHEME_SCHEMA: DecodingSchema<SecurityScheme> = createObjectSchema<SecurityScheme>({
  apiKeySecurityScheme: defineOneofMember(
    createObjectSchema<SecuritySchemeVariantContent<"apiKeySecurityScheme">>({
      location: required(API_KEY_LOCATION_SCHEMA, ""),
      name: requiredText,
      description: stringSchema,
    }),
  ),
  httpAuthSecurityScheme: defineOneofMember(
    createObjectSchema<SecuritySchemeVariantContent<"httpAuthSecurityScheme">>({
      scheme: requiredText,
      bearerFormat: stringSchema,
      description: stringSchema,
    }),
  ),
  oauth2SecurityScheme: defineOneofMember(
    createObjectSchema<SecuritySchemeVariantContent<"oauth2SecurityScheme">>({
      flows: required(OAUTH_FLOWS_SCHEMA, {}),
      oauth2MetadataUrl: stringSchema,
      description: stringSchema,
    }),
  ),
  openIdConnectSecurityScheme: defineOneofMember(
    createObjectSchema<SecuritySchemeVariantContent<"openIdConnectSecurityScheme">>({
      openIdConnectUrl: requiredText,
      description: stringSchema,
    }),
  ),
  mtlsSecurityScheme: defineOneofMember(
    createObjectSchema<SecuritySchemeVariantContent<"mtlsSecurityScheme">>({ description: stringSchema }),
  ),
});

const SCOPES_MESSAGE_SCHEMA: DecodingSchema<{ list: string[] }> = createObjectSchema<{ list: string[] }>({
  list: withDefault(createListSchema(stringSchema), []),
});

const SCOPES_LIST_SCHEMA: DecodingSchema<{ list: string[] }> = createConvertingSchema(
  createListSchema(stringSchema),
  (list) => ({ list }),
);

/** Schema for the scopes of a scheme. */
const SCOPES_SCHEMA: DecodingSchema<{ list: string[] }> = {
  decode: (json, at) =>
    (Array.isArray(json) && at.accepts("scopesAsList") ? SCOPES_LIST_SCHEMA : SCOPES_MESSAGE_SCHEMA).decode(
      json,
      at,
    ),
};

/** Schema for a security requirement, which contains the required scopes by scheme name. */
export const SECURITY_REQUIREMENT_SCHEMA: DecodingSchema<SecurityRequirement> =
  createObjectSchema<SecurityRequirement>({
    schemes: withDefault(createMapSchema(SCOPES_SCHEMA), {}),
  });

const AGENT_INTERFACE_SCHEMA: DecodingSchema<AgentInterface> = createObjectSchema<AgentInterface>({
  url: requiredText,
  protocolBinding: requiredText,
  tenant: stringSchema,
  protocolVersion: requiredText,
});

const AGENT_CAPABILITIES_SCHEMA: DecodingSchema<AgentCapabilities> = createObjectSchema<AgentCapabilities>({
  streaming: optional(boolSchema),
  pushNotifications: optional(boolSchema),
  extensions: createListSchema(
    createObjectSchema<AgentExtension>({
      uri: withDefault(stringSchema, ""),
      description: stringSchema,
      required: boolSchema,
      params: structSchema,
    }),
  ),
  extendedAgentCard: optional(boolSchema),
});

const AGENT_SKILL_SCHEMA: DecodingSchema<AgentSkill> = createObjectSchema<AgentSkill>({
  id: requiredText,
  name: requiredText,
  description: requiredText,
  tags: required(createListSchema(stringSchema), []),
  examples: createListSchema(stringSchema),
  inputModes: createListSchema(stringSchema),
  outputModes: createListSchema(stringSchema),
  securityRequirements: createListSchema(SECURITY_REQUIREMENT_SCHEMA),
});

/** Schema for the agent card of A2A 1.0. */
export const AGENT_CARD_SCHEMA: DecodingSchema<AgentCard> = createObjectSchema<AgentCard>({
  name: requiredText,
  description: requiredText,
  supportedInterfaces: required(createListSchema(AGENT_INTERFACE_SCHEMA), []),
  provider: createObjectSchema<AgentProvider>({ url: requiredText, organization: requiredText }),
  version: requiredText,
  documentationUrl: optional(stringSchema),
  capabilities: required(AGENT_CAPABILITIES_SCHEMA, {}),
  securitySchemes: createMapSchema(SECURITY_SCHEME_SCHEMA),
  securityRequirements: createListSchema(SECURITY_REQUIREMENT_SCHEMA),
  defaultInputModes: required(createListSchema(stringSchema), []),
  defaultOutputModes: required(createListSchema(stringSchema), []),
  skills: required(createListSchema(AGENT_SKILL_SCHEMA), []),
  signatures: createListSchema(
    createObjectSchema<AgentCardSignature>({
      protected: requiredText,
      signature: requiredText,
      header: structSchema,
    }),
  ),
  iconUrl: optional(stringSchema),
});
