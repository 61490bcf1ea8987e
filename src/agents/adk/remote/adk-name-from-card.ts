import type { AgentCard } from "../../../protocol/index.ts";

/**
 * Maximum length of a description from an agent card, in UTF-16 code units. The length is limited because
 * the peer writes its agent card, and the description becomes part of model instructions.
 */
const MAX_CARD_DESCRIPTION_LENGTH = 1_000;

/** Returns the description in an agent card as a single line of limited length. */
export function toAdkDescription({ description }: Pick<AgentCard, "description">): string {
  const line = description.replaceAll(/\s+/g, " ").trim();
  // Does not split a surrogate pair.
  return line.slice(0, MAX_CARD_DESCRIPTION_LENGTH).replace(/[\uD800-\uDBFF]$/, "");
}

/**
 * Converts the name in an agent card to a valid ADK agent name. In ADK, an agent name must be an identifier
 * other than `user`.
 */
export function toAdkName({ name }: Pick<AgentCard, "name">): string {
  const identifier = name.trim().replaceAll(/[^\p{ID_Continue}$-]+/gu, "_");
  if (identifier === "user") return "user_";
  return /^[\p{ID_Start}$_]/u.test(identifier) ? identifier : `_${identifier}`;
}
