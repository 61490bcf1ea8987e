import { Recent } from "../base/index.ts";
import type { Run } from "../engine/index.ts";
import { type Message, textOf } from "../protocol/index.ts";
import type { Turn } from "./generator.ts";

/** Whose conversation: a context belongs to its caller, so that the same id of somebody else's is another one. */
export interface ConversationPlace {
  readonly tenant: string;
  readonly principal: string;
  readonly contextId: string;
}

/**
 * What was said in earlier turns, in the words of a framework (`M` is JSON). Yours may keep it in a database; tasks of
 * one context may run at the same time, so a turn adds what it has heard and said, and replaces nothing.
 */
export interface Conversations<M> {
  /** Oldest first; empty for a conversation that is not known. */
  load(place: ConversationPlace): readonly M[] | Promise<readonly M[]>;
  append(place: ConversationPlace, messages: readonly M[]): void | Promise<void>;
}

export interface ConversationLimits {
  /** How many conversations are kept. Default: 1,000. */
  readonly conversations?: number;
  /** How many messages are kept of each. Default: 200. */
  readonly messages?: number;
}

const CONVERSATIONS = 1_000;
const MESSAGES = 200;

/**
 * In memory: the newest 200 messages of the 1,000 conversations that were used last. Gone when the process ends, while
 * tasks are not.
 */
export function recentConversations<M>(
  beginsTurn: (message: M) => boolean,
  { conversations = CONVERSATIONS, messages: most = MESSAGES }: ConversationLimits = {},
): Conversations<M> {
  const known = new Recent<readonly M[]>(conversations);
  return {
    load: (place) => known.get(keyOf(place)) ?? [],
    append(place, added) {
      const all = [...(known.get(keyOf(place)) ?? []), ...added].slice(-most);
      // No model takes a conversation that begins with an answer, or with half a tool call.
      const begin = all.findIndex(beginsTurn);
      known.set(keyOf(place), begin > 0 ? all.slice(begin) : all);
    },
  };
}

/** What the task itself knows of earlier turns, for when its conversation was forgotten: words, and no tool calls. */
export function earlierIn<M>(
  { history, task }: Pick<Turn, "history" | "task">,
  toUser: (message: Message) => M,
  toAssistant: (words: string) => M,
): M[] {
  const earlier = history
    .slice(0, -1)
    .map((message) => (message.role === "ROLE_USER" ? toUser(message) : toAssistant(textOf(message.parts))));
  if (earlier.length === 0) return [];
  const said = textOf((task.artifacts ?? []).flatMap(({ metadata, parts }) => (metadata ? [] : parts)));
  return said === "" ? earlier : [...earlier, toAssistant(said)];
}

/** The first turn of a task: what it says answers no question of that task's. */
export function isNew({ task }: Pick<Turn, "task">): boolean {
  return task.status.state === "TASK_STATE_SUBMITTED";
}

/** Why a conversation takes nothing new. */
export function isWaited(taskId: string): string {
  return `This conversation waits for an answer to task ${taskId}: answer it (with that taskId), cancel it, or begin another conversation (without the contextId).`;
}

export function placeOf({ caller, contextId }: Pick<Run, "caller" | "contextId">): ConversationPlace {
  return { tenant: caller.tenant, principal: caller.principal, contextId };
}

/**
 * One string for a place: the context's id alone where nobody is authenticated, so that it can be found by it. Never the
 * same for two places.
 */
export function keyOf({ tenant, principal, contextId }: ConversationPlace): string {
  const isAlone = tenant === "" && principal === "" && !contextId.startsWith("[");
  return isAlone ? contextId : JSON.stringify([tenant, principal, contextId]);
}
