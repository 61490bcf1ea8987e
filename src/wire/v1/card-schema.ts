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
import { defaulted, list, map, message, oneof, optional, required, type Type } from "../proto-json.ts";
import { bool, enumeration, string, struct } from "../scalars.ts";

// The card's messages of `a2a.proto` 1.0. Nearly everything has a fallback: a card that lacks a description is no reason
// not to talk to its agent. `required` is what the proto calls REQUIRED, because signatures depend on it (A2A §8.4.1).

type Variant<Union, Key extends PropertyKey> = Union extends Record<Key, infer Content> ? Content : never;
type Scheme<Key extends PropertyKey> = Variant<SecurityScheme, Key>;
type Flow<Key extends PropertyKey> = Variant<OAuthFlows, Key>;

const text = required(string, "");
const scopes = required(map(string), {});

const OAUTH_FLOWS: Type<OAuthFlows> = message<OAuthFlows>({
  authorizationCode: oneof(
    message<Flow<"authorizationCode">>({
      authorizationUrl: text,
      tokenUrl: text,
      refreshUrl: string,
      scopes,
      pkceRequired: bool,
    }),
  ),
  clientCredentials: oneof(
    message<Flow<"clientCredentials">>({ tokenUrl: text, refreshUrl: string, scopes }),
  ),
  deviceCode: oneof(
    message<Flow<"deviceCode">>({
      deviceAuthorizationUrl: text,
      tokenUrl: text,
      refreshUrl: string,
      scopes,
    }),
  ),
  implicit: oneof(
    message<Flow<"implicit">>({ authorizationUrl: string, refreshUrl: string, scopes: map(string) }),
  ),
  password: oneof(message<Flow<"password">>({ tokenUrl: string, refreshUrl: string, scopes: map(string) })),
});

type KeyLocation = Scheme<"apiKeySecurityScheme">["location"];

const KNOWN_LOCATION: Type<KeyLocation> = enumeration(["", "query", "header", "cookie"]);

/** A string in the proto: in the canonical form it is what it is. Readers do best to try a header where it is no location. */
const KEY_LOCATION: Type<KeyLocation> = {
  decode(json, at) {
    if (!at.fills) return string.decode(json, at) as KeyLocation | undefined;
    return KNOWN_LOCATION.decode(json, at) ?? (at.strict ? undefined : "header");
  },
};

export const SECURITY_SCHEME: Type<SecurityScheme> = message<SecurityScheme>({
  apiKeySecurityScheme: oneof(
    message<Scheme<"apiKeySecurityScheme">>({
      location: required(KEY_LOCATION, ""),
      name: text,
      description: string,
    }),
  ),
  httpAuthSecurityScheme: oneof(
    message<Scheme<"httpAuthSecurityScheme">>({ scheme: text, bearerFormat: string, description: string }),
  ),
  oauth2SecurityScheme: oneof(
    message<Scheme<"oauth2SecurityScheme">>({
      flows: required(OAUTH_FLOWS, {}),
      oauth2MetadataUrl: string,
      description: string,
    }),
  ),
  openIdConnectSecurityScheme: oneof(
    message<Scheme<"openIdConnectSecurityScheme">>({ openIdConnectUrl: text, description: string }),
  ),
  mtlsSecurityScheme: oneof(message<Scheme<"mtlsSecurityScheme">>({ description: string })),
});

export const SECURITY_REQUIREMENT: Type<SecurityRequirement> = message<SecurityRequirement>({
  schemes: defaulted(map(message<{ list: string[] }>({ list: defaulted(list(string), []) })), {}),
});

const AGENT_INTERFACE: Type<AgentInterface> = message<AgentInterface>({
  url: text,
  protocolBinding: text,
  tenant: string,
  protocolVersion: text,
});

const AGENT_CAPABILITIES: Type<AgentCapabilities> = message<AgentCapabilities>({
  streaming: optional(bool),
  pushNotifications: optional(bool),
  extensions: list(
    message<AgentExtension>({
      uri: defaulted(string, ""),
      description: string,
      required: bool,
      params: struct,
    }),
  ),
  extendedAgentCard: optional(bool),
});

const AGENT_SKILL: Type<AgentSkill> = message<AgentSkill>({
  id: text,
  name: text,
  description: text,
  tags: required(list(string), []),
  examples: list(string),
  inputModes: list(string),
  outputModes: list(string),
  securityRequirements: list(SECURITY_REQUIREMENT),
});

export const AGENT_CARD: Type<AgentCard> = message<AgentCard>({
  name: text,
  description: text,
  supportedInterfaces: required(list(AGENT_INTERFACE), []),
  provider: message<AgentProvider>({ url: text, organization: text }),
  version: text,
  documentationUrl: optional(string),
  capabilities: required(AGENT_CAPABILITIES, {}),
  securitySchemes: map(SECURITY_SCHEME),
  securityRequirements: list(SECURITY_REQUIREMENT),
  defaultInputModes: required(list(string), []),
  defaultOutputModes: required(list(string), []),
  skills: required(list(AGENT_SKILL), []),
  signatures: list(message<AgentCardSignature>({ protected: text, signature: text, header: struct })),
  iconUrl: optional(string),
});
