import type { A2AClient } from "../../client/index.ts";
import type { Agent, ContextSource, TaskStore } from "../../engine/index.ts";
import { copyTask, LogEvent, type Message, type Task } from "../../protocol/index.ts";
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
  const agentId = decodeURIComponent(new URL(client.agentInterface.url).pathname.split("/").at(-1) ?? "");
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
