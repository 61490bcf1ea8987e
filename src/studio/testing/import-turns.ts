import type { A2AClient } from "../../client/index.ts";
import type { Agent, ContextSource, TaskScope, TaskStore } from "../../engine/index.ts";
import {
  type Artifact,
  copyTask,
  fold,
  isEventRefusal,
  isInterrupted,
  isTerminal,
  LogEvent,
  type Message,
  type StreamResponse,
  type Task,
  type TaskStatus,
} from "../../protocol/index.ts";
import { type ConversationTurn, TurnCollector } from "./conversation-turn.ts";

/** A message of a conversation that a test begins with. */
export type PrefixMessage = Pick<Message, "role" | "parts">;

/** The agent and the store that receive the turns. */
interface ImportTarget {
  readonly agent: Agent;
  readonly store: TaskStore;
}

/** Anonymous clients own the tasks of a conversation. */
const OWNER = { tenant: "", principal: "" };

/** Returns the turn of a task that asks its user after the messages of a prefix. Its ids are those of no task. */
export function toPrefixTurn(prefix: readonly PrefixMessage[]): ConversationTurn {
  const last = prefix.at(-1);
  if (last?.role !== "ROLE_AGENT" || prefix[0]?.role !== "ROLE_USER")
    throw new Error("A prefix begins with a message of ROLE_USER, and ends with a message of ROLE_AGENT.");
  const messages = prefix.map((message) => ({ ...message, messageId: crypto.randomUUID() }));
  const task: Task = {
    id: "",
    contextId: "",
    history: messages.slice(0, -1),
    status: {
      state: "TASK_STATE_INPUT_REQUIRED",
      message: messages.at(-1) as Message,
      timestamp: new Date().toISOString(),
    },
  };
  const collector = new TurnCollector("", undefined);
  collector.addEvent({ task });
  return collector.finish(true);
}

/** A turn that ends early, with the artifacts that were complete at its end. */
interface PartialTurn {
  readonly turn: ConversationTurn;
  readonly artifacts: readonly Artifact[];
}

const NO_EVENTS =
  "The events of this turn are not stored, because the turn is a copy. Fork the original conversation.";

/** Limits of one read of a task's log. */
const PAGE_LIMIT = { events: 1_000, maxBytes: 16 * 2 ** 20 };

/**
 * Imports turns of which the last one ends at the first of its events for which `isLast` returns true. The task of that
 * turn is canceled at the event, as if the user had stopped the agent there.
 */
export async function importTurnsUntil(
  target: ImportTarget,
  client: Pick<A2AClient, "agentInterface">,
  turns: readonly ConversationTurn[],
  isLast: (event: StreamResponse) => boolean,
): Promise<ConversationTurn[]> {
  const [last, ...previous] = turns.toReversed();
  if (!last?.task) throw new Error("This turn has no task, and therefore no events. Fork after the turn.");
  const earlier = previous.find(({ task }) => task)?.task;
  const scope = { ...OWNER, agent: parseAgentId(client) };
  const { turn, artifacts } = await readPartialTurn(target.store, scope, last.task, earlier, isLast);
  const { contextId } = last.task;
  const until = earlier ? Date.parse(earlier.status.timestamp ?? "") : 0;
  const imported = [...previous.toReversed(), { ...turn, input: last.input }];
  return importTurns(target, client, imported, { contextId, until, artifacts });
}

async function readPartialTurn(
  store: TaskStore,
  scope: TaskScope,
  { id, contextId }: Task,
  earlier: Task | undefined,
  isLast: (event: StreamResponse) => boolean,
): Promise<PartialTurn> {
  const before = earlier?.id === id ? earlier : undefined;
  const collector = new TurnCollector("", before);
  const completeIds = new Set<string>();
  let task: Task | undefined;
  const add = (event: StreamResponse): Task => {
    const folded = fold(task, event);
    if (isEventRefusal(folded)) throw new Error(`The log of the task is invalid: ${folded.refusalReason}`);
    return (task = folded);
  };
  let hasBegun = before === undefined;
  for (let after = 0; ;) {
    const page = await store.readEvents(scope, id, after, PAGE_LIMIT);
    if (page.length === 0) throw new Error("`until` returned true for no event of the turn.");
    for (const { seq, event } of page) {
      after = seq;
      let folded = add(event);
      if (!hasBegun) {
        hasBegun = isSameStatus(folded.status, before?.status);
        continue;
      }
      if ("task" in event && hasTurnEnded(event.task)) throw new Error(NO_EVENTS);
      collector.addEvent(event);
      if ("artifactUpdate" in event && event.artifactUpdate.lastChunk)
        completeIds.add(event.artifactUpdate.artifact.artifactId);
      if (!isLast(event)) continue;
      if (!hasTurnEnded(folded)) {
        const status = { state: "TASK_STATE_CANCELED" as const, timestamp: new Date().toISOString() };
        const cancellation = { statusUpdate: { taskId: id, contextId, status } };
        collector.addEvent(cancellation);
        folded = add(cancellation);
      }
      const artifacts = (folded.artifacts ?? []).filter(({ artifactId }) => completeIds.has(artifactId));
      // The calls of the turn have no place between its events, so they are unknown.
      return { turn: { ...collector.finish(false), task: folded }, artifacts };
    }
  }
}

function hasTurnEnded({ status: { state } }: Task): boolean {
  return isTerminal(state) || isInterrupted(state);
}

function isSameStatus(status: TaskStatus, other: TaskStatus | undefined): boolean {
  if (status.message?.messageId !== other?.message?.messageId) return false;
  return status.state === other?.state && status.timestamp === other.timestamp;
}

function parseAgentId(client: Pick<A2AClient, "agentInterface">): string {
  return decodeURIComponent(new URL(client.agentInterface.url).pathname.split("/").at(-1) ?? "");
}

/**
 * Stores copies of the tasks of turns with new ids in a new context, and returns the turns with the copies. `source` is
 * what the agent receives for the new context. By default, the agent copies the context of the turns.
 */
export async function importTurns(
  { agent, store }: ImportTarget,
  client: Pick<A2AClient, "agentInterface">,
  turns: readonly ConversationTurn[],
  source: ContextSource | undefined = findContext(turns),
): Promise<ConversationTurn[]> {
  const agentId = parseAgentId(client);
  const contextId = crypto.randomUUID();
  if (source) await agent.prepareContext?.(contextId, OWNER, source);
  // A fork of a prefix copies what the agent has prepared until the time of its status.
  const timestamp = source && "messages" in source ? new Date().toISOString() : undefined;
  const copies = new Map<string, Task>();
  for (const { task } of turns) {
    if (!task) continue;
    const copy = renameTask(task, copies.get(task.id)?.id ?? crypto.randomUUID(), contextId);
    copies.set(task.id, timestamp === undefined ? copy : { ...copy, status: { ...copy.status, timestamp } });
  }
  const appends = [...copies.values()].map((task) => ({
    scope: { ...OWNER, agent: agentId },
    taskId: task.id,
    contextId,
    expectedSeq: 0,
    events: [LogEvent.create(1, { task })],
    committedAt: Date.now(),
    status: { state: task.status.state, timestamp: task.status.timestamp ?? new Date().toISOString() },
    messages: [],
    epoch: 0,
  }));
  await store.open();
  const refusals = appends.length === 0 ? [] : await store.commit(appends);
  const refusal = refusals.find((one) => one !== undefined);
  if (refusal) throw new Error(`The store refuses the copy of a conversation: ${refusal}.`);
  return turns.map((turn) => ({
    ...turn,
    task: turn.task && copyTask(copies.get(turn.task.id) ?? turn.task),
  }));
}

function findContext(turns: readonly ConversationTurn[]): ContextSource | undefined {
  const task = turns.findLast((turn) => turn.task)?.task;
  return task && { contextId: task.contextId, until: Date.parse(task.status.timestamp ?? "") };
}

/** Returns a copy of a task whose messages name the new task and the new context. */
function renameTask(task: Task, id: string, contextId: string): Task {
  const rename = (message: Message): Message => ({ ...message, taskId: id, contextId });
  const { history, status, metadata: _ofOtherContext, ...rest } = copyTask(task);
  return {
    ...rest,
    id,
    contextId,
    ...(history && { history: history.map(rename) }),
    status: { ...status, ...(status.message && { message: rename(status.message) }) },
  };
}
