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
  load(place: ConversationKey): readonly M[] | Promise<readonly M[]>;
  append(place: ConversationKey, messages: readonly M[]): void | Promise<void>;
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
  const known = new Map<string, readonly SizedMessage<M>[]>();
  let size = 0;
  const forget = (key: string): readonly SizedMessage<M>[] => {
    const kept = known.get(key) ?? [];
    known.delete(key);
    size -= computeTotalSize(kept);
    return kept;
  };
  const keep = (key: string, kept: readonly SizedMessage<M>[]): void => {
    if (kept.length === 0) return;
    known.set(key, kept);
    size += computeTotalSize(kept);
    for (const oldest of known.keys()) {
      if (known.size <= maxConversations && size <= maxSize) break;
      forget(oldest);
    }
  };
  return {
    load(place) {
      const kept = forget(encodeConversationKey(place));
      keep(encodeConversationKey(place), kept);
      return kept.map(({ message }) => message);
    },
    append(place, added) {
      const sized = added.map((message) => ({ message, size: estimateSize(message) }));
      const all = [...forget(encodeConversationKey(place)), ...sized].slice(-maxMessages);
      let left = computeTotalSize(all);
      let begin = 0;
      for (; begin < all.length && left > maxSize; begin++) left -= all[begin]?.size ?? 0;
      // No model takes a conversation that begins with an answer, or with half a tool call.
      const rest = all.slice(begin);
      const turn = rest.findIndex(({ message }) => beginsTurn(message));
      keep(encodeConversationKey(place), turn < 0 && begin > 0 ? [] : rest.slice(Math.max(turn, 0)));
    },
  };
}

/** A message with its size, which is measured once. */
interface SizedMessage<M> {
  readonly message: M;
  readonly size: number;
}

function computeTotalSize(kept: readonly SizedMessage<unknown>[]): number {
  return kept.reduce((sum, { size }) => sum + size, 0);
}

/** About what a value takes: its characters and bytes, and something for every value in it. */
function estimateSize(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  return Object.values(value).reduce((sum: number, one) => sum + estimateSize(one), 8);
}

/** What the task itself knows of earlier turns, for when its conversation was forgotten: words, and no tool calls. */
export function buildConversationFromTask<M>(
  { history, task }: Pick<Turn, "history" | "task">,
  toUser: (message: Message) => M,
  toAssistant: (words: string) => M,
): M[] {
  const earlier = history
    .slice(0, -1)
    .map((message) => (message.role === "ROLE_USER" ? toUser(message) : toAssistant(getText(message.parts))));
  if (earlier.length === 0) return [];
  const said = getText((task.artifacts ?? []).flatMap(({ metadata, parts }) => (metadata ? [] : parts)));
  return said === "" ? earlier : [...earlier, toAssistant(said)];
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
  const isAlone = tenant === "" && principal === "" && !contextId.startsWith("[");
  return isAlone ? contextId : JSON.stringify([tenant, principal, contextId]);
}
