import type { JsonObject, JsonValue } from "../protocol/index.ts";
import type { AdkEvent, SessionKey } from "./adk-structural-types.ts";

/**
 * URI of the extension for ADK bridges. The URI appears in agent cards, and as a metadata key in task
 * statuses.
 */
export const ADK_EXTENSION_URI = "https://google.github.io/adk-docs/a2a/a2a-extension/";

/** Returns the A2A metadata key for an ADK field. */
export function toAdkMetadataKey<Name extends string>(name: Name): `adk_${Name}` {
  return `adk_${name}`;
}

/** Metadata key for marking content as incomplete. */
export const PARTIAL_KEY: "adk_partial" = toAdkMetadataKey("partial");

/** Metadata key for the type of a data part. */
export const DATA_PART_TYPE_KEY: "adk_type" = toAdkMetadataKey("type");

/** Metadata key that marks text as an error message. */
export const IS_ERROR_MESSAGE_KEY: "adk_is_error_message" = toAdkMetadataKey("is_error_message");

/** Returns the key for an A2A field in the custom metadata of an ADK event. */
export function addA2aPrefixToCustomMetadataKey<Name extends string>(name: Name): `a2a:${Name}` {
  return `a2a:${name}`;
}

/** Returns the A2A metadata that identifies the ADK session of a task. */
export function toSessionKeyMetadata({ appName, userId, sessionId }: SessionKey): JsonObject {
  return {
    adk_app_name: appName,
    adk_user_id: userId,
    adk_session_id: sessionId,
  };
}

/**
 * Returns the A2A metadata of an ADK event: the invocation, the author, the branch, the usage, and other
 * fields of the event.
 */
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

/** Returns the A2A metadata for the `escalate` and `transferToAgent` actions of an ADK event. */
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

/** An action that a remote peer may request from local ADK agents. */
export type PeerRequestedAction = "escalate" | "transferToAgent";

/**
 * Converts A2A metadata from a peer to fields of an ADK event. A peer cannot set the author, the branch,
 * or the invocation of the ADK event. A peer also cannot set custom metadata keys that start with `a2a:`.
 */
export function fromEventMetadata(
  metadata: JsonObject | undefined,
  allowedActions: readonly PeerRequestedAction[] = ["escalate"],
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
  const escalate = allowedActions.includes("escalate") && metadata[toAdkMetadataKey("escalate")] === true;
  const transfer = metadata[toAdkMetadataKey("transfer_to_agent")];
  const mayTransfer =
    allowedActions.includes("transferToAgent") && typeof transfer === "string" && transfer !== "";
  if (escalate || mayTransfer) {
    event.actions = { ...(escalate && { escalate }), ...(mayTransfer && { transferToAgent: transfer }) };
  }
  return event;
}

/** Returns true if an ADK event has extra metadata, unlike the other events of its chain. */
export function hasExtraEventMetadata(event: AdkEvent): boolean {
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
