import type { JsonObject } from "./json.ts";

/** The bindings that the specification defines; others are URIs. */
export type ProtocolBinding = "JSONRPC" | "HTTP+JSON" | "GRPC" | (string & {});

/** One way to reach an agent (A2A §4.4.6). */
export interface AgentInterface {
  url: string;
  protocolBinding: ProtocolBinding;
  tenant?: string;
  /** `Major.Minor`, for example `1.0`. */
  protocolVersion: string;
}

export interface AgentProvider {
  url: string;
  organization: string;
}

export interface AgentExtension {
  uri: string;
  description?: string;
  required?: boolean;
  params?: JsonObject;
}

export interface AgentCapabilities {
  streaming?: boolean;
  pushNotifications?: boolean;
  extensions?: AgentExtension[];
  extendedAgentCard?: boolean;
}

export interface SecurityRequirement {
  schemes: Record<string, { list: string[] }>;
}

/** Something an agent can do (A2A §4.4.5). */
export interface AgentSkill {
  id: string;
  name: string;
  description: string;
  tags: string[];
  examples?: string[];
  inputModes?: string[];
  outputModes?: string[];
  securityRequirements?: SecurityRequirement[];
}

export interface AgentCardSignature {
  protected: string;
  signature: string;
  header?: JsonObject;
}

interface TokenFlow {
  tokenUrl: string;
  refreshUrl?: string;
  scopes: Record<string, string>;
}

export type OAuthFlows =
  | { authorizationCode: TokenFlow & { authorizationUrl: string; pkceRequired?: boolean } }
  | { clientCredentials: TokenFlow }
  | { deviceCode: TokenFlow & { deviceAuthorizationUrl: string } }
  | { implicit: { authorizationUrl?: string; refreshUrl?: string; scopes?: Record<string, string> } }
  | { password: { tokenUrl?: string; refreshUrl?: string; scopes?: Record<string, string> } };

export type SecurityScheme =
  | {
      apiKeySecurityScheme: { location: "query" | "header" | "cookie"; name: string; description?: string };
    }
  | { httpAuthSecurityScheme: { scheme: string; bearerFormat?: string; description?: string } }
  | { oauth2SecurityScheme: { flows: OAuthFlows; oauth2MetadataUrl?: string; description?: string } }
  | { openIdConnectSecurityScheme: { openIdConnectUrl: string; description?: string } }
  | { mtlsSecurityScheme: { description?: string } };

/** What an agent says of itself (A2A §4.4.1), served at `/.well-known/agent-card.json`. */
export interface AgentCard {
  name: string;
  description: string;
  /** In the order of preference. */
  supportedInterfaces: AgentInterface[];
  provider?: AgentProvider;
  version: string;
  documentationUrl?: string;
  capabilities: AgentCapabilities;
  securitySchemes?: Record<string, SecurityScheme>;
  securityRequirements?: SecurityRequirement[];
  /** MIME types. */
  defaultInputModes: string[];
  /** MIME types. */
  defaultOutputModes: string[];
  skills: AgentSkill[];
  signatures?: AgentCardSignature[];
  iconUrl?: string;
}
