import { LruCache } from "../data-structures/index.ts";
import { isInstructionRole, type ChatMessage } from "./chat-request.ts";
import { renderPartsAsText } from "./chat-parts.ts";

/** Where a conversation goes on: in its context and, where the agent has asked something, in its task. */
export interface ConversationIds {
  readonly contextId: string;
  readonly taskId?: string | undefined;
}

/** Whose conversation it is, and with which agent. */
export interface ConversationScope {
  readonly caller: string;
  readonly user: string;
  readonly model: string;
}

const MAX_CONVERSATIONS = 10_000;

/**
 * Finds the context of a conversation by what was said in it, since chat clients send all of that every time and know
 * nothing of contexts. In memory, the last 10,000.
 *
 * A thread goes on once: who goes back and asks again begins anew, since the agent would remember what was taken back.
 * And two that read the same (two people behind one key who have said "hi") are not told apart, so neither is gone on
 * with: each is told to the agent again, in a context of its own.
 */
export class ConversationIndex {
  readonly #conversations = new LruCache<ConversationIds | "ambiguous">(MAX_CONVERSATIONS);

  /** The thread that these messages go on with; `undefined` when the agent has to be told what was before. */
  async take(
    scope: ConversationScope,
    messages: readonly ChatMessage[],
  ): Promise<ConversationIds | undefined> {
    const last = messages.findLastIndex(({ role }) => role === "assistant");
    if (last < 0) return undefined;
    const key = await computeConversationKey(scope, messages.slice(0, last + 1));
    const ids = this.#conversations.get(key);
    if (ids === undefined || ids === "ambiguous") return undefined;
    this.#conversations.delete(key);
    return ids;
  }

  /** Undoes `take`: the agent has not been told anything. */
  async restore(
    scope: ConversationScope,
    messages: readonly ChatMessage[],
    ids: ConversationIds,
  ): Promise<void> {
    const last = messages.findLastIndex(({ role }) => role === "assistant");
    this.#set(await computeConversationKey(scope, messages.slice(0, last + 1)), ids);
  }

  /** Keeps where a conversation goes on that now ends with `answer`. */
  async save(
    scope: ConversationScope,
    messages: readonly ChatMessage[],
    answer: string,
    ids: ConversationIds,
  ): Promise<void> {
    const key = await computeConversationKey(scope, [
      ...messages,
      { role: "assistant", parts: [{ text: answer }] },
    ]);
    this.#set(key, ids);
  }

  #set(key: string, ids: ConversationIds): void {
    this.#conversations.set(key, this.#conversations.get(key) === undefined ? ids : "ambiguous");
  }
}

/** Instructions do not count, and neither does space around a text. */
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
