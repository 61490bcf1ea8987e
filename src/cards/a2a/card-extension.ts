import type { AgentExtension, JsonObject } from "../../protocol/index.ts";
import { MESSAGE_CARD_EXTENSION_URI, MESSAGE_CARD_MEDIA_TYPE } from "./card-parts.ts";

/** Parameters of the message card extension in an agent card. */
interface MessageCardExtensionParams {
  /** Role of the agent in the card protocol, such as `planner`. */
  readonly role: string;
  /** Types of message cards that the agent accepts. */
  readonly accepts: readonly string[];
  /** Types of message cards that the agent sends. */
  readonly emits: readonly string[];
  /**
   * Relay modes that the agent supports. With `full`, the agent forwards every message card to its requester.
   */
  readonly relay: readonly ("none" | "full")[];
}

/**
 * Creates the agent card entry that declares the message card extension. If `required` is true, clients of
 * the agent must also send message cards. Default: `false`.
 */
export function createMessageCardExtension(
  params: MessageCardExtensionParams,
  required = false,
): AgentExtension {
  const { role, accepts, emits, relay } = params;
  return {
    uri: MESSAGE_CARD_EXTENSION_URI,
    description: "Speaks in task, result, query, control and error cards",
    ...(required ? { required } : {}),
    params: {
      role,
      accepts: [...accepts],
      emits: [...emits],
      relay: [...relay],
      media_type: MESSAGE_CARD_MEDIA_TYPE,
    } satisfies JsonObject,
  };
}

/** Returns whether an agent's capabilities declare the message card extension. */
export function supportsMessageCards(capabilities: {
  readonly extensions?: readonly AgentExtension[];
}): boolean {
  return (capabilities.extensions ?? []).some(({ uri }) => uri === MESSAGE_CARD_EXTENSION_URI);
}
