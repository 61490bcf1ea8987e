import type {
  AgentCapabilities,
  AgentCard,
  AgentSkill,
  Artifact,
  JsonObject,
  Message,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatus,
  TaskStatusUpdateEvent,
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

/** A type of A2A 1.0 with the members that A2A 0.3 changes. */
type Changed<Type, Changes> = Omit<Type, keyof Changes> & Changes;

/** Message in 0.3. */
export type Message03 = Changed<Message, { kind: "message"; role: Role03; parts: Part03[] }>;

/** Artifact in 0.3. */
export type Artifact03 = Changed<Artifact, { parts: Part03[] }>;

/** Task status in 0.3. */
export type TaskStatus03 = Changed<TaskStatus, { state: TaskState03; message?: Message03 }>;

/** Task in A2A 0.3, which is also the body of a push notification. */
export type Task03 = Changed<
  Task,
  { kind: "task"; status: TaskStatus03; artifacts?: Artifact03[]; history?: Message03[] }
>;

/** Stream event in 0.3. A status update with `final` is the last event of the current turn. */
export type Event03 =
  | Task03
  | Message03
  | Changed<TaskStatusUpdateEvent, { kind: "status-update"; status: TaskStatus03; final: boolean }>
  | Changed<TaskArtifactUpdateEvent, { kind: "artifact-update"; artifact: Artifact03 }>;

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
export type Skill03 = Omit<AgentSkill, "securityRequirements"> & { security?: SecurityRequirement03[] };

/** Agent card in 0.3. `url` is the URL of the interface that uses `preferredTransport`. */
export type Card03 = Changed<
  Omit<AgentCard, "supportedInterfaces" | "securityRequirements">,
  {
    protocolVersion: string;
    url: string;
    preferredTransport: string;
    additionalInterfaces?: { url: string; transport: string }[];
    capabilities: Omit<AgentCapabilities, "extendedAgentCard">;
    securitySchemes?: Record<string, SecurityScheme03>;
    security?: SecurityRequirement03[];
    skills: Skill03[];
    supportsAuthenticatedExtendedCard?: boolean;
  }
>;
