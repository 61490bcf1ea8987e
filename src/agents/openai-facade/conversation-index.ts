import { LruCache } from "../../base/data-structures/index.ts";
import { isInstructionRole, type ChatMessage } from "./chat-request.ts";
import { renderPartsAsText } from "./chat-parts.ts";

/** The A2A context id of a conversation, and the id of a task that waits for an answer. */
export interface ConversationIds {
  readonly contextId: string;
  readonly taskId?: string | undefined;
}

/** The caller, end user, and agent of a conversation. */
export interface ConversationScope {
  readonly caller: string;
  readonly user: string;
  readonly model: string;
}

const MAX_CONVERSATIONS = 10_000;

/**
 * Finds the A2A context of a chat conversation by the text of its messages. Chat clients send all messages of
 * a conversation with every request, and have no context ids. The index is in memory and keeps the last
 * 10,000 conversations.
 *
 * Each entry of the index is used only once. If a user edits an earlier message, the façade starts a new
 * context, because the old context contains the original message.
 *
 * If two conversations have equal text, such as "hi" from two users of the same API key, the façade continues
 * neither conversation. For conversations with equal text, the agent receives a transcript in a new context.
 *
 * A request that repeats an earlier request with the same message id receives the ids of the earlier request.
 */
export class ConversationIndex {
  readonly #conversations = new LruCache<ConversationIds | "ambiguous">(MAX_CONVERSATIONS);
  /** The ids that requests with a message id have taken, by conversation and message id. */
  readonly #takenIds = new LruCache<ConversationIds>(MAX_CONVERSATIONS);

  /**
   * Removes and returns the ids of the conversation that the messages continue, or returns `undefined` if the
   * agent needs a transcript.
   */
  async takeIds(
    scope: ConversationScope,
    messages: readonly ChatMessage[],
    messageId: string | undefined,
  ): Promise<ConversationIds | undefined> {
    const last = messages.findLastIndex(({ role }) => role === "assistant");
    if (last < 0) return undefined;
    const key = await computeConversationKey(scope, messages.slice(0, last + 1));
    const takenIds = messageId === undefined ? undefined : this.#takenIds.get(`${key} ${messageId}`);
    if (takenIds) return takenIds;
    const ids = this.#conversations.get(key);
    if (ids === undefined || ids === "ambiguous") return undefined;
    this.#conversations.delete(key);
    if (messageId !== undefined) this.#takenIds.set(`${key} ${messageId}`, ids);
    return ids;
  }

  /** Puts the ids of a conversation back into the index if the agent has not received the message. */
  async putBackIds(
    scope: ConversationScope,
    messages: readonly ChatMessage[],
    messageId: string | undefined,
    ids: ConversationIds,
  ): Promise<void> {
    const last = messages.findLastIndex(({ role }) => role === "assistant");
    const key = await computeConversationKey(scope, messages.slice(0, last + 1));
    this.#takenIds.delete(`${key} ${messageId}`);
    this.#setIdsOrMarkAmbiguous(key, ids);
  }

  /** Stores the ids of a conversation whose last message is now `answer`. */
  async saveIds(
    scope: ConversationScope,
    messages: readonly ChatMessage[],
    answer: string,
    ids: ConversationIds,
  ): Promise<void> {
    const key = await computeConversationKey(scope, [
      ...messages,
      { role: "assistant", parts: [{ text: answer }] },
    ]);
    this.#setIdsOrMarkAmbiguous(key, ids);
  }

  #setIdsOrMarkAmbiguous(key: string, ids: ConversationIds): void {
    const known = this.#conversations.get(key);
    const isOtherConversation = known === "ambiguous" || (known && known.contextId !== ids.contextId);
    this.#conversations.set(key, isOtherConversation ? "ambiguous" : ids);
  }
}

/** Computes the hash of a conversation. The hash ignores instructions and the whitespace around texts. */
async function computeConversationKey(
  { caller, user, model }: ConversationScope,
  messages: readonly ChatMessage[],
): Promise<string> {
  const contents = messages
    .filter(({ role }) => !isInstructionRole(role))
    .map(({ role, parts }) => [
      role,
      renderPartsAsText(parts).trim(),
      parts.filter((part) => !("text" in part)),
    ]);
  const bytes = new TextEncoder().encode(JSON.stringify([caller, user, model, contents]));
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
