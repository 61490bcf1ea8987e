import type { JsonObject, JsonValue } from "../protocol/index.ts";
import type { AdkEvent } from "./types.ts";

/** Says that a task comes from an ADK bridge: in the card, and as a key in the metadata of its statuses. */
export const ADK_EXTENSION_URI = "https://google.github.io/adk-docs/a2a/a2a-extension/";

/** The key under which an ADK fact stands in A2A metadata. */
export function toAdkMetadataKey<Name extends string>(name: Name): `adk_${Name}` {
  return `adk_${name}`;
}

/** The key under which an A2A fact stands in the custom metadata of an ADK event. */
export function toA2aMetadataKey<Name extends string>(name: Name): `a2a:${Name}` {
  return `a2a:${name}`;
}

/** Which session a task runs in. */
export interface SessionKey {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
}

export function toSessionMetadata({ appName, userId, sessionId }: SessionKey): JsonObject {
  return {
    [toAdkMetadataKey("app_name")]: appName,
    [toAdkMetadataKey("user_id")]: userId,
    [toAdkMetadataKey("session_id")]: sessionId,
  };
}

/** What an event says beside its content, as far as it says it. */
export function toEventMetadata(event: AdkEvent): JsonObject {
  const metadata: JsonObject = {};
  setMetadataValue(metadata, "invocation_id", event.invocationId);
  setMetadataValue(metadata, "author", event.author);
  setMetadataValue(metadata, "branch", event.branch);
  setMetadataValue(metadata, "node_path", event.nodeInfo?.path);
  setMetadataValue(metadata, "citation_metadata", event.citationMetadata);
  setMetadataValue(metadata, "grounding_metadata", event.groundingMetadata);
  setMetadataValue(metadata, "usage_metadata", event.usageMetadata);
  setMetadataValue(metadata, "custom_metadata", event.customMetadata);
  setMetadataValue(metadata, "error_code", event.errorCode);
  return metadata;
}

/** What an event asks its surroundings to do. */
export function toActionsMetadata({ actions }: AdkEvent): JsonObject {
  const metadata: JsonObject = {};
  if (actions?.escalate) metadata[toAdkMetadataKey("escalate")] = true;
  if (actions?.transferToAgent) metadata[toAdkMetadataKey("transfer_to_agent")] = actions.transferToAgent;
  return metadata;
}

function setMetadataValue(metadata: JsonObject, name: string, value: unknown): void {
  if (value === undefined || value === null || value === "") return;
  metadata[toAdkMetadataKey(name)] =
    typeof value === "object" ? (JSON.parse(JSON.stringify(value)) as JsonValue) : (value as JsonValue);
}

/** What a peer may have an ADK event ask of its surroundings. */
export type PeerAction = "escalate" | "transferToAgent";

/**
 * What an ADK event says beside its content, from the metadata that a peer wrote. Who spoke, in which branch and in
 * which invocation is not the peer's to say, and neither are facts of A2A (`a2a:`) in its custom metadata.
 */
export function fromEventMetadata(
  metadata: JsonObject | undefined,
  allow: readonly PeerAction[] = ["escalate"],
): Pick<AdkEvent, "citationMetadata" | "groundingMetadata" | "usageMetadata" | "customMetadata" | "actions"> {
  const event: ReturnType<typeof fromEventMetadata> = {};
  if (!metadata) return event;
  const object = (name: string): JsonObject | undefined => {
    const value = metadata[toAdkMetadataKey(name)];
    return isJsonObject(value) ? value : undefined;
  };
  const citation = object("citation_metadata");
  if (citation) event.citationMetadata = citation;
  const grounding = object("grounding_metadata");
  if (grounding) event.groundingMetadata = grounding;
  const usage = object("usage_metadata");
  if (usage) event.usageMetadata = usage;
  const custom = Object.entries(object("custom_metadata") ?? {}).filter(([key]) => !key.startsWith("a2a:"));
  if (custom.length > 0) event.customMetadata = Object.fromEntries(custom);
  const escalate = allow.includes("escalate") && metadata[toAdkMetadataKey("escalate")] === true;
  const transfer = metadata[toAdkMetadataKey("transfer_to_agent")];
  const mayTransfer = allow.includes("transferToAgent") && typeof transfer === "string" && transfer !== "";
  if (escalate || mayTransfer) {
    event.actions = { ...(escalate && { escalate }), ...(mayTransfer && { transferToAgent: transfer }) };
  }
  return event;
}

/** True when an event says something beside its content that its neighbours of the same chain do not say. */
export function hasExtraMetadata(event: AdkEvent): boolean {
  return Boolean(
    event.usageMetadata ??
    event.groundingMetadata ??
    event.citationMetadata ??
    event.customMetadata ??
    event.errorCode,
  );
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
