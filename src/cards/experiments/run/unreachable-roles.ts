import { type MessageCard, CONTROLLER, type ErrorCard, type ResultCard } from "../../index.ts";
import { isConfigurationStatus } from "../../roles/index.ts";

/**
 * Returns whether a model provider rejected a request with a status such as 401 or 404. Every other request
 * would be rejected, too.
 */
export function isReplyOfMisconfiguredModel({ metadata }: ResultCard | ErrorCard): boolean {
  const { http_status } = metadata as { http_status?: unknown };
  return typeof http_status === "number" && isConfigurationStatus(http_status);
}

/**
 * Returns whether a model provider rejected the request for this problem, for example with status 400 because
 * of its content filter or because the prompt is too long.
 */
export function isReplyOfRejectedRequest({ message_type, metadata }: ResultCard | ErrorCard): boolean {
  const { http_status, retryable } = metadata as { http_status?: unknown; retryable?: unknown };
  return message_type === "error" && http_status !== undefined && retryable !== true;
}

/**
 * Returns whether a reply is invalid as a measurement, because a model or an agent was unreachable or the
 * work was canceled.
 */
export function isReplyOfUnreachableRole({ message_type, metadata }: ResultCard | ErrorCard): boolean {
  const { error_type, retryable } = metadata as { error_type?: unknown; retryable?: unknown };
  // This includes a canceled planner with a partial result, because it did not get its full time.
  if (error_type === "cancelled" || isReplyOfMisconfiguredModel({ message_type, metadata } as ErrorCard))
    return true;
  if (message_type !== "error" || retryable !== true) return false;
  return error_type === "model_error" || error_type === "transport_error";
}

/**
 * Returns the reply to the first subtask of a problem that failed because a role was unreachable, also after its
 * retries. The planner's answer is then not a valid measurement of the method.
 */
export function findUnreachableSubtask(cards: readonly MessageCard[]): ResultCard | ErrorCard | undefined {
  /** Key of each delegated subtask, by the ID of its task card. All retries of a subtask have the same key. */
  const keys = new Map<string, string>();
  const failures = new Map<string, ResultCard | ErrorCard>();
  for (const card of cards) {
    const { sender, recipient, message_type, metadata, content } = card;
    const { card_id, in_reply_to } = metadata;
    if (message_type === "task" && sender !== CONTROLLER && card_id !== undefined)
      keys.set(card_id, JSON.stringify([recipient, metadata.turn, content]));
    const key = keys.get(in_reply_to ?? "");
    if (key === undefined || (message_type !== "result" && message_type !== "error")) continue;
    if (isReplyOfUnreachableRole(card as ResultCard | ErrorCard))
      failures.set(key, card as ResultCard | ErrorCard);
    else failures.delete(key);
  }
  return failures.values().next().value;
}
