import type { JsonObject } from "./json.ts";

/**
 * Name of a protocol binding. A2A defines the names of three bindings. The name of a custom binding is a
 * URI.
 */
type ProtocolBinding = "JSONRPC" | "HTTP+JSON" | "GRPC" | (string & {});

/** A URL where an agent serves one protocol binding in one version (A2A §4.4.6). */
export interface AgentInterface {
  url: string;
  protocolBinding: ProtocolBinding;
  tenant?: string;
  /** The A2A version of the interface in the form `Major.Minor`, for example `1.0`. */
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

/** A skill that an agent offers (A2A §4.4.5). */
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

/**
 * An agent's description of itself (A2A §4.4.1), which the server serves at `/.well-known/agent-card.json`.
 */
export interface AgentCard {
  name: string;
  description: string;
  /**
   * The interfaces of the agent in order of preference. The agent prefers the first interface.
   */
  supportedInterfaces: AgentInterface[];
  provider?: AgentProvider;
  version: string;
  documentationUrl?: string;
  capabilities: AgentCapabilities;
  securitySchemes?: Record<string, SecurityScheme>;
  securityRequirements?: SecurityRequirement[];
  /** Media types that the agent accepts, for example `text/plain`. */
  defaultInputModes: string[];
  /** Media types that the agent produces, for example `text/plain`. */
  defaultOutputModes: string[];
  skills: AgentSkill[];
  signatures?: AgentCardSignature[];
  iconUrl?: string;
}
