import type {
  AgentCapabilities,
  AgentProvider,
  AgentCardSignature,
  JsonObject,
} from "../../protocol/index.ts";

// Types of A2A 0.3 (`types.ts` at v0.3.0) for encoding. Decoded 0.3 values are converted to the 1.0 model
// immediately.

/** Role of a message in A2A 0.3. */
export type Role03 = "user" | "agent";

/** Task state in 0.3. */
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

/** File content of a part in A2A 0.3. */
type File03 = { name?: string; mimeType?: string } & ({ bytes: string } | { uri: string });

/** Part of a message or an artifact in A2A 0.3. */
export type Part03 = { metadata?: JsonObject } & (
  | { kind: "text"; text: string }
  | { kind: "file"; file: File03 }
  | { kind: "data"; data: JsonObject }
);

/** Message in 0.3. */
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

/** Artifact in 0.3. */
export interface Artifact03 {
  artifactId: string;
  name?: string;
  description?: string;
  parts: Part03[];
  metadata?: JsonObject;
  extensions?: string[];
}

/** Task status in 0.3. */
export interface TaskStatus03 {
  state: TaskState03;
  message?: Message03;
  timestamp?: string;
}

/** Task in A2A 0.3, which is also the body of a push notification. */
export interface Task03 {
  kind: "task";
  id: string;
  contextId: string;
  status: TaskStatus03;
  artifacts?: Artifact03[];
  history?: Message03[];
  metadata?: JsonObject;
}

/** Status update event in A2A 0.3. */
interface StatusUpdate03 {
  kind: "status-update";
  taskId: string;
  contextId: string;
  status: TaskStatus03;
  /** If `true`, the stream has no more events of the current turn. */
  final: boolean;
  metadata?: JsonObject;
}

/** Artifact update event in A2A 0.3. */
interface ArtifactUpdate03 {
  kind: "artifact-update";
  taskId: string;
  contextId: string;
  artifact: Artifact03;
  append?: boolean;
  lastChunk?: boolean;
  metadata?: JsonObject;
}

/** Stream event in 0.3. */
export type Event03 = Task03 | Message03 | StatusUpdate03 | ArtifactUpdate03;

/** Push notification configuration in A2A 0.3. */
export interface PushConfig03 {
  id?: string;
  url: string;
  token?: string;
  authentication?: { schemes: string[]; credentials?: string };
}

/** Push notification configuration in A2A 0.3, together with the id of its task. */
export interface TaskPushConfig03 {
  taskId: string;
  pushNotificationConfig: PushConfig03;
}

interface OAuthFlow03 {
  refreshUrl?: string;
  scopes: Record<string, string>;
}

/** OAuth flows in A2A 0.3. A security scheme may offer several flows. */
export interface OAuthFlows03 {
  authorizationCode?: OAuthFlow03 & { authorizationUrl: string; tokenUrl: string };
  clientCredentials?: OAuthFlow03 & { tokenUrl: string };
  implicit?: OAuthFlow03 & { authorizationUrl: string };
  password?: OAuthFlow03 & { tokenUrl: string };
}

/** Security scheme in A2A 0.3, in the style of OpenAPI 3. `type` distinguishes the kinds. */
export type SecurityScheme03 = { description?: string } & (
  | { type: "apiKey"; in: "query" | "header" | "cookie"; name: string }
  | { type: "http"; scheme: string; bearerFormat?: string }
  | { type: "oauth2"; flows: OAuthFlows03; oauth2MetadataUrl?: string }
  | { type: "openIdConnect"; openIdConnectUrl: string }
  | { type: "mutualTLS" }
);

/**
 * Security requirement in A2A 0.3, which contains the required scopes by scheme name. A request must
 * satisfy all schemes of a security requirement.
 */
export type SecurityRequirement03 = Record<string, string[]>;

/** Skill of an agent card in A2A 0.3. */
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

/** Interface of an agent card in A2A 0.3. */
interface AgentInterface03 {
  url: string;
  transport: string;
}

/** Agent card in 0.3. */
export interface Card03 {
  protocolVersion: string;
  name: string;
  description: string;
  /** URL of the interface that uses `preferredTransport`. */
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
