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
import {
  withDefault,
  createListSchema,
  createMapSchema,
  createMessageSchema,
  oneof,
  optional,
  required,
  type Schema,
} from "../proto-json-schema.ts";
import { boolSchema, createEnumSchema, stringSchema, structSchema } from "../scalar-schemas.ts";

// Schemas of the agent card messages of `a2a.proto` 1.0. Nearly every member has a fallback, because an agent
// is usable even if its card lacks, for example, a description. `required` marks the members that the proto
// calls REQUIRED, because card signatures depend on them (A2A §8.4.1).

type UnionVariant<Union, Key extends PropertyKey> =
  Union extends Record<Key, infer Content> ? Content : never;
type SecuritySchemeVariant<Key extends PropertyKey> = UnionVariant<SecurityScheme, Key>;
type OAuthFlowVariant<Key extends PropertyKey> = UnionVariant<OAuthFlows, Key>;

const requiredText = required(stringSchema, "");
const requiredScopes = required(createMapSchema(stringSchema), {});

const OAUTH_FLOWS_SCHEMA: Schema<OAuthFlows> = createMessageSchema<OAuthFlows>({
  authorizationCode: oneof(
    createMessageSchema<OAuthFlowVariant<"authorizationCode">>({
      authorizationUrl: requiredText,
      tokenUrl: requiredText,
      refreshUrl: stringSchema,
      scopes: requiredScopes,
      pkceRequired: boolSchema,
    }),
  ),
  clientCredentials: oneof(
    createMessageSchema<OAuthFlowVariant<"clientCredentials">>({
      tokenUrl: requiredText,
      refreshUrl: stringSchema,
      scopes: requiredScopes,
    }),
  ),
  deviceCode: oneof(
    createMessageSchema<OAuthFlowVariant<"deviceCode">>({
      deviceAuthorizationUrl: requiredText,
      tokenUrl: requiredText,
      refreshUrl: stringSchema,
      scopes: requiredScopes,
    }),
  ),
  implicit: oneof(
    createMessageSchema<OAuthFlowVariant<"implicit">>({
      authorizationUrl: stringSchema,
      refreshUrl: stringSchema,
      scopes: createMapSchema(stringSchema),
    }),
  ),
  password: oneof(
    createMessageSchema<OAuthFlowVariant<"password">>({
      tokenUrl: stringSchema,
      refreshUrl: stringSchema,
      scopes: createMapSchema(stringSchema),
    }),
  ),
});

type ApiKeyLocation = SecuritySchemeVariant<"apiKeySecurityScheme">["location"];

const KNOWN_API_KEY_LOCATION_SCHEMA: Schema<ApiKeyLocation> = createEnumSchema([
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
const API_KEY_LOCATION_SCHEMA: Schema<ApiKeyLocation> = {
  decode(json, at) {
    if (!at.fillsDefaults) return stringSchema.decode(json, at) as ApiKeyLocation | undefined;
    return KNOWN_API_KEY_LOCATION_SCHEMA.decode(json, at) ?? (at.isStrict ? undefined : "header");
  },
};

/** Schema for a security scheme, which has one oneof member for each scheme type. */
export const SECURITY_SCHEME_SCHEMA: Schema<SecurityScheme> = createMessageSchema<SecurityScheme>({
  apiKeySecurityScheme: oneof(
    createMessageSchema<SecuritySchemeVariant<"apiKeySecurityScheme">>({
      location: required(API_KEY_LOCATION_SCHEMA, ""),
      name: requiredText,
      description: stringSchema,
    }),
  ),
  httpAuthSecurityScheme: oneof(
    createMessageSchema<SecuritySchemeVariant<"httpAuthSecurityScheme">>({
      scheme: requiredText,
      bearerFormat: stringSchema,
      description: stringSchema,
    }),
  ),
  oauth2SecurityScheme: oneof(
    createMessageSchema<SecuritySchemeVariant<"oauth2SecurityScheme">>({
      flows: required(OAUTH_FLOWS_SCHEMA, {}),
      oauth2MetadataUrl: stringSchema,
      description: stringSchema,
    }),
  ),
  openIdConnectSecurityScheme: oneof(
    createMessageSchema<SecuritySchemeVariant<"openIdConnectSecurityScheme">>({
      openIdConnectUrl: requiredText,
      description: stringSchema,
    }),
  ),
  mtlsSecurityScheme: oneof(
    createMessageSchema<SecuritySchemeVariant<"mtlsSecurityScheme">>({ description: stringSchema }),
  ),
});

/** Schema for a security requirement, which contains the required scopes by scheme name. */
export const SECURITY_REQUIREMENT_SCHEMA: Schema<SecurityRequirement> =
  createMessageSchema<SecurityRequirement>({
    schemes: withDefault(
      createMapSchema(
        createMessageSchema<{ list: string[] }>({ list: withDefault(createListSchema(stringSchema), []) }),
      ),
      {},
    ),
  });

const AGENT_INTERFACE_SCHEMA: Schema<AgentInterface> = createMessageSchema<AgentInterface>({
  url: requiredText,
  protocolBinding: requiredText,
  tenant: stringSchema,
  protocolVersion: requiredText,
});

const AGENT_CAPABILITIES_SCHEMA: Schema<AgentCapabilities> = createMessageSchema<AgentCapabilities>({
  streaming: optional(boolSchema),
  pushNotifications: optional(boolSchema),
  extensions: createListSchema(
    createMessageSchema<AgentExtension>({
      uri: withDefault(stringSchema, ""),
      description: stringSchema,
      required: boolSchema,
      params: structSchema,
    }),
  ),
  extendedAgentCard: optional(boolSchema),
});

const AGENT_SKILL_SCHEMA: Schema<AgentSkill> = createMessageSchema<AgentSkill>({
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
export const AGENT_CARD_SCHEMA: Schema<AgentCard> = createMessageSchema<AgentCard>({
  name: requiredText,
  description: requiredText,
  supportedInterfaces: required(createListSchema(AGENT_INTERFACE_SCHEMA), []),
  provider: createMessageSchema<AgentProvider>({ url: requiredText, organization: requiredText }),
  version: requiredText,
  documentationUrl: optional(stringSchema),
  capabilities: required(AGENT_CAPABILITIES_SCHEMA, {}),
  securitySchemes: createMapSchema(SECURITY_SCHEME_SCHEMA),
  securityRequirements: createListSchema(SECURITY_REQUIREMENT_SCHEMA),
  defaultInputModes: required(createListSchema(stringSchema), []),
  defaultOutputModes: required(createListSchema(stringSchema), []),
  skills: required(createListSchema(AGENT_SKILL_SCHEMA), []),
  signatures: createListSchema(
    createMessageSchema<AgentCardSignature>({
      protected: requiredText,
      signature: requiredText,
      header: structSchema,
    }),
  ),
  iconUrl: optional(stringSchema),
});
