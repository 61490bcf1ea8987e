import type {
  AgentCapabilities,
  AgentProvider,
  AgentCardSignature,
  JsonObject,
} from "../../protocol/index.ts";

// The types of A2A 0.3 (`types.ts` at v0.3.0) as they are written; what is read becomes 1.0 at once.

export type Role03 = "user" | "agent";

export type TaskState03 =
  | "submitted"
  | "working"
  | "input-required"
  | "completed"
  | "canceled"
  | "failed"
  | "rejected"
  | "auth-required"
  | "unknown";

export type File03 = { name?: string; mimeType?: string } & ({ bytes: string } | { uri: string });

export type Part03 = { metadata?: JsonObject } & (
  | { kind: "text"; text: string }
  | { kind: "file"; file: File03 }
  | { kind: "data"; data: JsonObject }
);

export interface Message03 {
  kind: "message";
  messageId: string;
  contextId?: string;
  taskId?: string;
  role: Role03;
  parts: Part03[];
  metadata?: JsonObject;
  extensions?: string[];
  referenceTaskIds?: string[];
}

export interface Artifact03 {
  artifactId: string;
  name?: string;
  description?: string;
  parts: Part03[];
  metadata?: JsonObject;
  extensions?: string[];
}

export interface TaskStatus03 {
  state: TaskState03;
  message?: Message03;
  timestamp?: string;
}

/** A task of A2A 0.3: also what 0.3 pushes. */
export interface Task03 {
  kind: "task";
  id: string;
  contextId: string;
  status: TaskStatus03;
  artifacts?: Artifact03[];
  history?: Message03[];
  metadata?: JsonObject;
}

export interface StatusUpdate03 {
  kind: "status-update";
  taskId: string;
  contextId: string;
  status: TaskStatus03;
  /** True: no more events come, for this turn at least. */
  final: boolean;
  metadata?: JsonObject;
}

export interface ArtifactUpdate03 {
  kind: "artifact-update";
  taskId: string;
  contextId: string;
  artifact: Artifact03;
  append?: boolean;
  lastChunk?: boolean;
  metadata?: JsonObject;
}

export type Event03 = Task03 | Message03 | StatusUpdate03 | ArtifactUpdate03;

export interface PushConfig03 {
  id?: string;
  url: string;
  token?: string;
  authentication?: { schemes: string[]; credentials?: string };
}

export interface TaskPushConfig03 {
  taskId: string;
  pushNotificationConfig: PushConfig03;
}

interface OAuthFlow03 {
  refreshUrl?: string;
  scopes: Record<string, string>;
}

export interface OAuthFlows03 {
  authorizationCode?: OAuthFlow03 & { authorizationUrl: string; tokenUrl: string };
  clientCredentials?: OAuthFlow03 & { tokenUrl: string };
  implicit?: OAuthFlow03 & { authorizationUrl: string };
  password?: OAuthFlow03 & { tokenUrl: string };
}

/** In the style of OpenAPI 3: `type` tells them apart. */
export type SecurityScheme03 = { description?: string } & (
  | { type: "apiKey"; in: "query" | "header" | "cookie"; name: string }
  | { type: "http"; scheme: string; bearerFormat?: string }
  | { type: "oauth2"; flows: OAuthFlows03; oauth2MetadataUrl?: string }
  | { type: "openIdConnect"; openIdConnectUrl: string }
  | { type: "mutualTLS" }
);

/** Scopes by the names of schemes: all of them together. */
export type SecurityRequirement03 = Record<string, string[]>;

export interface Skill03 {
  id: string;
  name: string;
  description: string;
  tags: string[];
  examples?: string[];
  inputModes?: string[];
  outputModes?: string[];
  security?: SecurityRequirement03[];
}

export interface AgentInterface03 {
  url: string;
  transport: string;
}

/** A card of A2A 0.3. */
export interface Card03 {
  protocolVersion: string;
  name: string;
  description: string;
  /** Where `preferredTransport` is spoken. */
  url: string;
  preferredTransport: string;
  additionalInterfaces?: AgentInterface03[];
  provider?: AgentProvider;
  version: string;
  documentationUrl?: string;
  capabilities: Omit<AgentCapabilities, "extendedAgentCard">;
  securitySchemes?: Record<string, SecurityScheme03>;
  security?: SecurityRequirement03[];
  defaultInputModes: string[];
  defaultOutputModes: string[];
  skills: Skill03[];
  supportsAuthenticatedExtendedCard?: boolean;
  signatures?: AgentCardSignature[];
  iconUrl?: string;
}
