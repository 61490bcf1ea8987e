import { truncateText } from "../../cards/index.ts";

const MAX_ERROR_CHARACTERS = 500;

/**
 * What was thrown, for people, in a few words. It may stand on a card whatever it is: an error of which no card can be
 * written would leave a task without a reply.
 */
export function formatError(thrown: unknown): string {
  const text = (thrown instanceof Error ? thrown.message : String(thrown)).toWellFormed();
  return text.length > MAX_ERROR_CHARACTERS ? `${truncateText(text, MAX_ERROR_CHARACTERS)}…` : text;
}
