import { truncateText } from "../../../protocol/index.ts";

const MAX_ERROR_CHARACTERS = 500;

/**
 * Formats a thrown value as a short error text. The error text is short enough for an error card. If the
 * error text made the card invalid, the task would get no reply.
 */
export function formatError(thrown: unknown): string {
  const text = (thrown instanceof Error ? thrown.message : String(thrown)).toWellFormed();
  return text.length > MAX_ERROR_CHARACTERS ? `${truncateText(text, MAX_ERROR_CHARACTERS)}…` : text;
}
