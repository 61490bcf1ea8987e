import type { AgentCard } from "../../protocol/index.ts";

/** What models are told of an agent stands in their instructions, and a peer writes its card itself. */
const MAX_DESCRIPTION_LENGTH = 1_000;

/** How a card introduces its agent to the models here: in one line of bounded length. */
export function toAdkDescription({ description }: Pick<AgentCard, "description">): string {
  const line = description.replaceAll(/\s+/g, " ").trim();
  // Cut between characters.
  return line.slice(0, MAX_DESCRIPTION_LENGTH).replace(/[\uD800-\uDBFF]$/, "");
}

/** The name of a card as one that ADK takes: an identifier, and not that of the user. */
export function toAdkName({ name }: Pick<AgentCard, "name">): string {
  const identifier = name.trim().replaceAll(/[^\p{ID_Continue}$-]+/gu, "_");
  if (identifier === "user") return "user_";
  return /^[\p{ID_Start}$_]/u.test(identifier) ? identifier : `_${identifier}`;
}
