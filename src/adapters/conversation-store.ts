import type { Run } from "../engine/index.ts";
import { type Message, getText } from "../protocol/index.ts";
import type { Turn } from "./generator.ts";

/** Whose conversation: a context belongs to its caller, so that the same id of somebody else's is another one. */
export interface ConversationKey {
  readonly tenant: string;
  readonly principal: string;
  readonly contextId: string;
}

/**
 * What was said in earlier turns, in the words of a framework (`M` is JSON). Yours may keep it in a database; tasks of
 * one context may run at the same time, so a turn adds what it has heard and said, and replaces nothing.
 */
export interface ConversationStore<M> {
  /** Oldest first; empty for a conversation that is not known. */
  load(key: ConversationKey): readonly M[] | Promise<readonly M[]>;
  append(key: ConversationKey, messages: readonly M[]): void | Promise<void>;
}

export interface ConversationLimits {
  /** How many conversations are kept. Default: 1,000. */
  readonly maxConversations?: number;
  /** How many messages are kept of each. Default: 200. */
  readonly maxMessages?: number;
  /** How much is kept of all of them together: characters of text, bytes of files that are no text. Default: 128 Mi. */
  readonly maxSize?: number;
}

const MAX_CONVERSATIONS = 1_000;
const MAX_MESSAGES = 200;
const MAX_SIZE = 128 * 2 ** 20;

/**
 * In memory: the newest 200 messages of the 1,000 conversations that were used last, as far as there is room: what
 * callers send is theirs to choose, and may be files. Gone when the process ends, while tasks are not.
 */
export function createMemoryConversationStore<M>(
  beginsTurn: (message: M) => boolean,
  {
    maxConversations = MAX_CONVERSATIONS,
    maxMessages = MAX_MESSAGES,
    maxSize = MAX_SIZE,
  }: ConversationLimits = {},
): ConversationStore<M> {
  /** The one that was used last is the last. */
  const conversationsByKey = new Map<string, readonly SizedMessage<M>[]>();
  let size = 0;
  const removeConversation = (key: string): readonly SizedMessage<M>[] => {
    const storedMessages = conversationsByKey.get(key) ?? [];
    conversationsByKey.delete(key);
    size -= computeTotalSize(storedMessages);
    return storedMessages;
  };
  const addConversation = (key: string, storedMessages: readonly SizedMessage<M>[]): void => {
    if (storedMessages.length === 0) return;
    conversationsByKey.set(key, storedMessages);
    size += computeTotalSize(storedMessages);
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
      let remainingSize = computeTotalSize(allMessages);
      let firstKept = 0;
      for (; firstKept < allMessages.length && remainingSize > maxSize; firstKept++)
        remainingSize -= allMessages[firstKept]?.size ?? 0;
      // No model takes a conversation that begins with an answer, or with half a tool call.
      const keptMessages = allMessages.slice(firstKept);
      const turnStart = keptMessages.findIndex(({ message }) => beginsTurn(message));
      addConversation(
        encodeConversationKey(key),
        turnStart < 0 && firstKept > 0 ? [] : keptMessages.slice(Math.max(turnStart, 0)),
      );
    },
  };
}

/** A message with its size, which is measured once. */
interface SizedMessage<M> {
  readonly message: M;
  readonly size: number;
}

function computeTotalSize(storedMessages: readonly SizedMessage<unknown>[]): number {
  return storedMessages.reduce((sum, { size }) => sum + size, 0);
}

/** About what a value takes: its characters and bytes, and something for every value in it. */
function estimateSize(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  return Object.values(value).reduce((sum: number, item) => sum + estimateSize(item), 8);
}

/** What the task itself knows of earlier turns, for when its conversation was forgotten: words, and no tool calls. */
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

/** The first turn of a task: what it says answers no question of that task's. */
export function isFirstTurn({ task }: Pick<Run, "task">): boolean {
  return task.status.state === "TASK_STATE_SUBMITTED";
}

/** Why a conversation takes nothing new. */
export function formatPendingTaskMessage(taskId: string): string {
  return `This conversation waits for an answer to task ${taskId}: answer it (with that taskId), cancel it, or begin another conversation (without the contextId).`;
}

export function getConversationKey({
  caller,
  contextId,
}: Pick<Run, "caller" | "contextId">): ConversationKey {
  return { tenant: caller.tenant, principal: caller.principal, contextId };
}

/**
 * One string for a place: the context's id alone where nobody is authenticated, so that it can be found by it. Never the
 * same for two places.
 */
export function encodeConversationKey({ tenant, principal, contextId }: ConversationKey): string {
  const isAnonymous = tenant === "" && principal === "" && !contextId.startsWith("[");
  return isAnonymous ? contextId : JSON.stringify([tenant, principal, contextId]);
}
