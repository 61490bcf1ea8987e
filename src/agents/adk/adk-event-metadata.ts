import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import type { AdkEvent, AdkEventActions, SessionKey } from "./adk-structural-types.ts";

/**
 * URI of the A2A extension that ADK bridges use. The URI appears in agent cards. Task statuses use the URI as
 * a metadata key.
 */
export const ADK_EXTENSION_URI = "https://google.github.io/adk-docs/a2a/a2a-extension/";

/** Returns the A2A metadata key for an ADK field. */
export function toAdkMetadataKey<Name extends string>(name: Name): `adk_${Name}` {
  return `adk_${name}`;
}

/** Metadata key that marks content as incomplete. */
export const PARTIAL_KEY: "adk_partial" = toAdkMetadataKey("partial");

/** Metadata key for the type of a data part. */
export const DATA_PART_TYPE_KEY: "adk_type" = toAdkMetadataKey("type");

/** Metadata key that marks text as an error message. */
export const IS_ERROR_MESSAGE_KEY: "adk_is_error_message" = toAdkMetadataKey("is_error_message");

/**
 * Metadata key for an object that contains the actions of an event. ADK for Python reads and writes this key.
 */
export const ACTIONS_KEY: "adk_actions" = toAdkMetadataKey("actions");

export const ESCALATE_KEY: "adk_escalate" = toAdkMetadataKey("escalate");
const TRANSFER_KEY = toAdkMetadataKey("transfer_to_agent");

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
 * Returns the A2A metadata of an ADK event: the invocation, author, branch, token usage, actions, and other
 * fields.
 */
export function toEventMetadata(event: AdkEvent): JsonObject {
  const metadata: JsonObject = {};
  setMetadataValue(metadata, "invocation_id", event.invocationId);
  setMetadataValue(metadata, "author", event.author);
  setMetadataValue(metadata, "branch", event.branch);
  setMetadataValue(metadata, "node_path", event.nodeInfo?.path);
  setMetadataValue(metadata, "citation_metadata", event.citationMetadata);
  setMetadataValue(metadata, "grounding_metadata", event.groundingMetadata);
  setMetadataValue(metadata, "custom_metadata", event.customMetadata);
  Object.assign(metadata, toModelMetadata(event));
  setMetadataValue(metadata, "error_code", event.errorCode);
  setMetadataValue(metadata, "actions", selectForwardedActions(event.actions));
  // ADK for JavaScript reads this key of the update, and ignores a status without content.
  if (event.actions?.escalate) metadata[ESCALATE_KEY] = true;
  return metadata;
}

/** Returns the A2A metadata about the model: its token usage, finish reason, and version. */
export function toModelMetadata({ usageMetadata, finishReason, modelVersion }: AdkEvent): JsonObject {
  const metadata: JsonObject = {};
  setMetadataValue(metadata, "usage_metadata", usageMetadata);
  setMetadataValue(metadata, "finish_reason", finishReason);
  setMetadataValue(metadata, "model_version", modelVersion);
  return metadata;
}

/**
 * Returns the A2A metadata for the actions of an ADK event. ADK for Go and JavaScript read `adk_escalate` and
 * `adk_transfer_to_agent`, and ADK for Python reads `adk_actions`.
 */
export function toActionsMetadata({ actions }: AdkEvent): JsonObject {
  const metadata: JsonObject = {};
  if (actions?.escalate) metadata[ESCALATE_KEY] = true;
  if (actions?.transferToAgent) metadata[TRANSFER_KEY] = actions.transferToAgent;
  setMetadataValue(metadata, "actions", selectForwardedActions(actions));
  return metadata;
}

/** Returns the actions that callers may read, or `undefined` if the event requests none of these actions. */
function selectForwardedActions(actions: AdkEventActions = {}): AdkEventActions | undefined {
  const { escalate, transferToAgent, skipSummarization } = actions;
  if (!escalate && !transferToAgent && !skipSummarization) return undefined;
  return {
    ...(escalate && { escalate }),
    ...(transferToAgent && { transferToAgent }),
    ...(skipSummarization && { skipSummarization }),
  };
}

function setMetadataValue(metadata: JsonObject, name: string, value: unknown): void {
  if (value === undefined || value === null || value === "") return;
  metadata[toAdkMetadataKey(name)] =
    typeof value === "object" ? (JSON.parse(JSON.stringify(value)) as JsonValue) : (value as JsonValue);
}

/**
 * Merges the metadata of several objects from a peer. Later values take precedence, except that the actions
 * of all objects are combined.
 */
export function mergePeerMetadata(...sources: readonly (JsonObject | undefined)[]): JsonObject {
  const merged: JsonObject = Object.assign({}, ...sources) as JsonObject;
  const actions = sources.flatMap((source) => decodeActionsObject(source) ?? []);
  if (actions.length > 1) merged[ACTIONS_KEY] = Object.assign({}, ...actions) as JsonObject;
  return merged;
}

/** Returns only the metadata entries that request actions. */
export function pickActionsMetadata(metadata: JsonObject | undefined): JsonObject {
  const picked: JsonObject = {};
  for (const key of [ACTIONS_KEY, ESCALATE_KEY, TRANSFER_KEY]) {
    const value = metadata?.[key];
    if (value !== undefined) picked[key] = value;
  }
  return picked;
}

/** Returns metadata that clears the actions stored in a task's metadata. */
export function clearActionsMetadata(metadata: JsonObject): JsonObject {
  return {
    ...(metadata[ACTIONS_KEY] !== undefined && { [ACTIONS_KEY]: {} }),
    ...(metadata[ESCALATE_KEY] !== undefined && { [ESCALATE_KEY]: false }),
    ...(metadata[TRANSFER_KEY] !== undefined && { [TRANSFER_KEY]: "" }),
  };
}

/** An action that a remote peer may request from local ADK agents. */
export type PeerRequestedAdkEventAction = "escalate" | "skipSummarization" | "transferToAgent";

/** Effects that a peer may have on local ADK agents. */
export interface PeerPermissions {
  /** Actions that the peer may request. Default: `escalate` and `skipSummarization`. */
  readonly allowedActions?: readonly PeerRequestedAdkEventAction[];
  /** Session state keys that the peer may set. Default: none. */
  readonly stateKeys?: readonly string[];
}

/**
 * Converts A2A metadata from a peer to fields of an ADK event. A peer cannot set the author, the branch,
 * or the invocation of the ADK event. A peer also cannot set custom metadata keys that start with `a2a:`.
 */
export function fromEventMetadata(
  metadata: JsonObject | undefined,
  permissions: PeerPermissions = {},
): Pick<
  AdkEvent,
  | "citationMetadata"
  | "groundingMetadata"
  | "usageMetadata"
  | "customMetadata"
  | "finishReason"
  | "modelVersion"
  | "actions"
> {
  const event: ReturnType<typeof fromEventMetadata> = {};
  if (!metadata) return event;
  const object = (name: string): JsonObject | undefined => {
    const value = metadata[toAdkMetadataKey(name)];
    return isJsonObject(value) ? value : undefined;
  };
  const text = (name: string): string | undefined => {
    const value = metadata[toAdkMetadataKey(name)];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const citation = object("citation_metadata");
  if (citation) event.citationMetadata = citation;
  const grounding = object("grounding_metadata");
  if (grounding) event.groundingMetadata = grounding;
  const usage = object("usage_metadata");
  if (usage) event.usageMetadata = usage;
  const custom = Object.entries(object("custom_metadata") ?? {}).filter(([key]) => !key.startsWith("a2a:"));
  if (custom.length > 0) event.customMetadata = Object.fromEntries(custom);
  const finishReason = text("finish_reason");
  if (finishReason) event.finishReason = finishReason;
  const modelVersion = text("model_version");
  if (modelVersion) event.modelVersion = modelVersion;
  const actions = fromActionsMetadata(metadata, permissions);
  if (actions) event.actions = actions;
  return event;
}

/** Converts A2A metadata from a peer to the actions that the peer may request. */
function fromActionsMetadata(
  metadata: JsonObject,
  { allowedActions = ["escalate", "skipSummarization"], stateKeys = [] }: PeerPermissions,
): AdkEventActions | undefined {
  const object = decodeActionsObject(metadata) ?? {};
  const isAllowed = (action: PeerRequestedAdkEventAction): boolean => allowedActions.includes(action);
  const actions: AdkEventActions = {};
  const isEscalation = metadata[ESCALATE_KEY] === true || object["escalate"] === true;
  if (isEscalation && isAllowed("escalate")) actions.escalate = true;
  const skip = object["skipSummarization"] ?? object["skip_summarization"];
  if (skip === true && isAllowed("skipSummarization")) actions.skipSummarization = true;
  const transfer = metadata[TRANSFER_KEY] ?? object["transferToAgent"] ?? object["transfer_to_agent"];
  if (typeof transfer === "string" && transfer !== "" && isAllowed("transferToAgent"))
    actions.transferToAgent = transfer;
  const stateDelta = decodeAllowedStateDelta(metadata, stateKeys);
  if (stateDelta) actions.stateDelta = stateDelta;
  return Object.keys(actions).length > 0 ? actions : undefined;
}

/** Returns A2A metadata that contains the session state values, or an empty object if there are no values. */
export function toStateMetadata(stateDelta: JsonObject): JsonObject {
  return Object.keys(stateDelta).length > 0 ? { [ACTIONS_KEY]: { stateDelta } } : {};
}

/** Returns the allowed session state values from A2A metadata, or `undefined` if there are none. */
export function decodeAllowedStateDelta(
  metadata: JsonObject | undefined,
  allowedKeys: readonly string[],
): JsonObject | undefined {
  const object = decodeActionsObject(metadata);
  const delta = object?.["stateDelta"] ?? object?.["state_delta"];
  const values = isJsonObject(delta) ? pickStateValues(delta, allowedKeys) : {};
  return Object.keys(values).length > 0 ? values : undefined;
}

/** Returns a JSON copy of the state values with the given keys. Values that JSON cannot contain are omitted. */
export function pickStateValues(
  state: Readonly<Record<string, unknown>>,
  keys: readonly string[],
): JsonObject {
  const values = keys.flatMap((key) =>
    Object.hasOwn(state, key) && state[key] !== undefined ? [[key, state[key]]] : [],
  );
  return JSON.parse(JSON.stringify(Object.fromEntries(values))) as JsonObject;
}

/** Returns the object under `adk_actions`. Some versions of ADK for Python encode the object as a JSON string. */
function decodeActionsObject(metadata: JsonObject | undefined): JsonObject | undefined {
  let value = metadata?.[ACTIONS_KEY];
  if (typeof value === "string") {
    try {
      value = JSON.parse(value) as JsonValue;
    } catch {
      return undefined;
    }
  }
  return isJsonObject(value) ? value : undefined;
}

/** Returns true if an ADK event has more metadata than its invocation, author, branch, and workflow node. */
export function hasExtraEventMetadata(event: AdkEvent): boolean {
  return Boolean(
    event.usageMetadata ??
    event.groundingMetadata ??
    event.citationMetadata ??
    event.customMetadata ??
    event.finishReason ??
    event.modelVersion ??
    event.errorCode ??
    selectForwardedActions(event.actions),
  );
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
