import type { JsonObject, JsonValue } from "../protocol/index.ts";
import type { AdkEvent } from "./types.ts";

/** Says that a task comes from an ADK bridge: in the card, and as a key in the metadata of its statuses. */
export const ADK_EXTENSION = "https://google.github.io/adk-docs/a2a/a2a-extension/";

/** The key under which an ADK fact stands in A2A metadata. */
export function metadataKey<Name extends string>(name: Name): `adk_${Name}` {
  return `adk_${name}`;
}

/** Which session a task runs in. */
export interface SessionPlace {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
}

export function sessionMetadata({ appName, userId, sessionId }: SessionPlace): JsonObject {
  return {
    [metadataKey("app_name")]: appName,
    [metadataKey("user_id")]: userId,
    [metadataKey("session_id")]: sessionId,
  };
}

/** What an event says beside its content, as far as it says it. */
export function eventMetadata(event: AdkEvent): JsonObject {
  const metadata: JsonObject = {};
  const put = (name: string, value: unknown): void => {
    if (value === undefined || value === null || value === "") return;
    metadata[metadataKey(name)] =
      typeof value === "object" ? (JSON.parse(JSON.stringify(value)) as JsonValue) : (value as JsonValue);
  };
  put("invocation_id", event.invocationId);
  put("author", event.author);
  put("branch", event.branch);
  put("node_path", event.nodeInfo?.path);
  put("citation_metadata", event.citationMetadata);
  put("grounding_metadata", event.groundingMetadata);
  put("usage_metadata", event.usageMetadata);
  put("custom_metadata", event.customMetadata);
  put("error_code", event.errorCode);
  return metadata;
}

/** True when an event says something beside its content that its neighbours of the same chain do not say. */
export function saysMore(event: AdkEvent): boolean {
  return Boolean(
    event.usageMetadata ??
    event.groundingMetadata ??
    event.citationMetadata ??
    event.customMetadata ??
    event.errorCode,
  );
}
