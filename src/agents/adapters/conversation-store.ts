import type { Run } from "../../engine/index.ts";
import { type Message, getText } from "../../protocol/index.ts";
import type { Turn } from "./generator-agent.ts";

/**
 * The caller, the tenant, and the context id of a conversation. Conversations of different callers are
 * separate, even if their context ids are equal.
 */
export interface ConversationKey {
  readonly tenant: string;
  readonly principal: string;
  readonly contextId: string;
}

/**
 * Stores the messages of earlier turns in the format of the agent's framework. The message type `M` must be
 * serializable as JSON. A custom conversation store may use a database. A turn appends its messages and never
 * replaces existing messages, because tasks of one context may run at the same time.
 */
export interface ConversationStore<M> {
  /**
   * Returns the messages of a conversation, oldest first, or an empty list if the conversation is unknown.
   */
  load(key: ConversationKey): readonly M[] | Promise<readonly M[]>;
  append(key: ConversationKey, messages: readonly M[]): void | Promise<void>;
}

/** Limits of the in-memory conversation store. */
interface ConversationLimits {
  /** Maximum number of conversations. Default: 1,000. */
  readonly maxConversations?: number;
  /** Maximum number of messages per conversation. Default: 200. */
  readonly maxMessages?: number;
  /**
   * Maximum total size of all conversations, in characters of text plus bytes of binary content. Default: 128
   * Mi.
   */
  readonly maxSize?: number;
}

const MAX_CONVERSATIONS = 1_000;
const MAX_MESSAGES = 200;
const MAX_TOTAL_CONVERSATIONS_SIZE = 128 * 2 ** 20;

/**
 * Creates a conversation store in memory. By default, the store keeps the 1,000 most recently used
 * conversations, with the newest 200 messages of each. The store also limits the total size of all
 * conversations, because callers control the size of their messages. Unlike stored tasks, all conversations
 * are lost when the process ends.
 */
export function createMemoryConversationStore<M>(
  beginsTurn: (message: M) => boolean,
  {
    maxConversations = MAX_CONVERSATIONS,
    maxMessages = MAX_MESSAGES,
    maxSize = MAX_TOTAL_CONVERSATIONS_SIZE,
  }: ConversationLimits = {},
): ConversationStore<M> {
  /** The stored conversations, from the least to the most recently used. */
  const conversationsByKey = new Map<string, readonly SizedMessage<M>[]>();
  let size = 0;
  const removeConversation = (key: string): readonly SizedMessage<M>[] => {
    const storedMessages = conversationsByKey.get(key) ?? [];
    conversationsByKey.delete(key);
    size -= sumMessageSizes(storedMessages);
    return storedMessages;
  };
  const addConversation = (key: string, storedMessages: readonly SizedMessage<M>[]): void => {
    if (storedMessages.length === 0) return;
    conversationsByKey.set(key, storedMessages);
    size += sumMessageSizes(storedMessages);
    for (const oldest of conversationsByKey.keys()) {
      if (conversationsByKey.size <= maxConversations && size <= maxSize) break;
      removeConversation(oldest);
    }
  };
  return {
    load(key) {
      const storedMessages = removeConversation(encodeConversationKey(key));
      addConversation(encodeConversationKey(key), storedMessages);
      return storedMessages.map(({ message }) => message);
    },
    append(key, newMessages) {
      const sized = newMessages.map((message) => ({ message, size: estimateSize(message) }));
      const allMessages = [...removeConversation(encodeConversationKey(key)), ...sized].slice(-maxMessages);
      let remainingSize = sumMessageSizes(allMessages);
      let firstKept = 0;
      for (; firstKept < allMessages.length && remainingSize > maxSize; firstKept++)
        remainingSize -= allMessages[firstKept]?.size ?? 0;
      // A model rejects a conversation that begins with an answer or with an incomplete tool call.
      const keptMessages = allMessages.slice(firstKept);
      const turnStart = keptMessages.findIndex(({ message }) => beginsTurn(message));
      addConversation(
        encodeConversationKey(key),
        turnStart < 0 && firstKept > 0 ? [] : keptMessages.slice(Math.max(turnStart, 0)),
      );
    },
  };
}

/** A message with its approximate size. */
interface SizedMessage<M> {
  readonly message: M;
  readonly size: number;
}

function sumMessageSizes(storedMessages: readonly SizedMessage<unknown>[]): number {
  return storedMessages.reduce((sum, { size }) => sum + size, 0);
}

/**
 * Returns the approximate size of a message value. The size is the number of characters and bytes, plus 8 for
 * each object and primitive.
 */
function estimateSize(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  return Object.values(value).reduce((sum: number, item) => sum + estimateSize(item), 8);
}

/**
 * Rebuilds a conversation from the task's history, if the store no longer contains the conversation. The
 * rebuilt conversation contains text but no tool calls.
 */
export function buildConversationFromTask<M>(
  { history, task }: Pick<Turn, "history" | "task">,
  toUser: (message: Message) => M,
  toAssistant: (content: string) => M,
): M[] {
  const earlierMessages = history
    .slice(0, -1)
    .map((message) => (message.role === "ROLE_USER" ? toUser(message) : toAssistant(getText(message.parts))));
  if (earlierMessages.length === 0) return [];
  const answerText = getText(
    (task.artifacts ?? []).flatMap(({ metadata, parts }) => (metadata ? [] : parts)),
  );
  return answerText === "" ? earlierMessages : [...earlierMessages, toAssistant(answerText)];
}

/**
 * Returns true if a turn is the first turn of its task. The message of a first turn cannot answer a question
 * of the task.
 */
export function isFirstTurnInTask({ task }: Pick<Run, "task">): boolean {
  return task.status.state === "TASK_STATE_SUBMITTED";
}

/** Returns the reason for rejecting a new message while the conversation has a pending question. */
export function formatPendingTaskRefusalReason(taskId: string): string {
  return `This conversation waits for an answer to task ${taskId}. Answer with that taskId, cancel the task, or start a new conversation without the contextId.`;
}

/** Returns the key of the conversation that contains the run's message. */
export function getConversationKey({
  caller,
  contextId,
}: Pick<Run, "caller" | "contextId">): ConversationKey {
  return { tenant: caller.tenant, principal: caller.principal, contextId };
}

/**
 * Encodes a conversation key as a unique string for a database. If the key has neither a caller nor a tenant,
 * the string is the context id, so that users can find the conversation.
 */
export function encodeConversationKey({ tenant, principal, contextId }: ConversationKey): string {
  const isAnonymous = tenant === "" && principal === "" && !contextId.startsWith("[");
  return isAnonymous ? contextId : JSON.stringify([tenant, principal, contextId]);
}
