import type { AgentExtension, JsonObject } from "../../protocol/index.ts";
import { MESSAGE_CARD_EXTENSION_URI, MESSAGE_CARD_MEDIA_TYPE } from "./card-parts.ts";

/** What an agent says of how it speaks in cards. */
export interface MessageCardExtensionParams {
  /** The role that it has. */
  readonly role: string;
  /** The types of cards that may come, and that may go. */
  readonly accepts: readonly string[];
  readonly emits: readonly string[];
  /** What it can tell of the cards that it exchanges with others. */
  readonly relay: readonly ("none" | "full")[];
}

/** The entry in an agent's card. `required`: whoever asks must speak in cards, too; default false. */
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

/** Whether an agent's card says that it speaks in cards. */
export function supportsMessageCards(capabilities: {
  readonly extensions?: readonly AgentExtension[];
}): boolean {
  return (capabilities.extensions ?? []).some(({ uri }) => uri === MESSAGE_CARD_EXTENSION_URI);
}
