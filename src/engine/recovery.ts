import {
  A2AError,
  fold,
  isEventRefusal,
  copyTask,
  type LogEvent,
  type Message,
  type Task,
} from "../protocol/index.ts";
import type { Agent } from "./agent.ts";
import type { TaskScope } from "./caller.ts";
import { findTurnMessage, type Inbox } from "./inbox.ts";
import type { PersistedTurn } from "./persisted-turn.ts";
import type { Runner } from "./runner.ts";
import type { RunnerRegistry } from "./runner-registry.ts";
import type { TaskStore, UnfinishedTask } from "./task-store.ts";

const SERVER_STOPPED_TEXT = "The server stopped while the agent was at work; send the message again.";
const formatTooManyAttempts = (attempts: number): string =>
  `The server stopped ${attempts} times while the agent was at work on this message, which is not tried again.`;

/** How many orphans are settled at a time. */
const BATCH_SIZE = 256;
/** How much of a log is read at a time. */
const PAGE_LIMIT = { events: 512, maxBytes: 256 * 1024 };

/** What a recovery works with. */
export interface RecoveryContext {
  readonly agent: Agent;
  readonly agentId: string;
  readonly store: TaskStore;
  readonly runners: RunnerRegistry;
  readonly inbox: Inbox;
  /** How often a turn is begun at most. */
  readonly turnAttempts: number;
}

/**
 * Settles the tasks on which an agent of a process that is gone was at work: the turn is begun again, where the agent
 * says so and the store knows what was asked; else the task fails with a reason (E9).
 */
export async function recoverTasks(context: RecoveryContext): Promise<void> {
  const orphans = (await context.store.listUnfinished()).filter(
    ({ scope }) => scope.agent === context.agentId,
  );
  for (let at = 0; at < orphans.length; at += BATCH_SIZE) {
    // All of them, before one that fails is told of: whoever tries again must not meet those that are under way.
    const settled = await Promise.allSettled(
      orphans.slice(at, at + BATCH_SIZE).map((orphan) => recoverTask(orphan, context)),
    );
    for (const one of settled) if (one.status === "rejected") throw one.reason;
  }
}

async function recoverTask(orphan: UnfinishedTask, context: RecoveryContext): Promise<void> {
  const runner = await context.runners.findAndRetain(orphan.scope, orphan.taskId);
  if (!runner) return;
  try {
    // Not orphaned: an earlier try of this process, which failed at another task, has begun it again.
    if (runner.currentTurn) return;
    const why = await restartTurn(runner, orphan, context);
    if (why === undefined) return;
    runner.failOrphan(why);
    await runner.liveTask.waitForCommit();
  } finally {
    runner.release();
  }
}

/** Has the agent work on the task's turn again, or says why the task fails instead. */
async function restartTurn(
  runner: Runner,
  { scope, taskId, turn: kept }: UnfinishedTask,
  { agent, store, inbox, turnAttempts: attempts }: RecoveryContext,
): Promise<string | undefined> {
  const { afterRestart = "fail" } = agent;
  if (afterRestart === "fail" || !kept) return SERVER_STOPPED_TEXT;
  if (kept.attempt >= attempts) return formatTooManyAttempts(kept.attempt);
  const { message, found } = await readTurnStart(kept, scope, taskId, store);
  try {
    const turn = inbox.resumeTurn(scope, kept, message);
    await runner.restartTurn(turn, kept.seq, found, afterRestart);
    return undefined;
  } catch (error) {
    // There are more orphans than this server may have agents at work.
    if (error instanceof A2AError && error.reason === "RESOURCE_EXHAUSTED") return SERVER_STOPPED_TEXT;
    throw error;
  }
}

/** A turn's message, and the task as the turn found it, with the messages that the agent took while it was at work. */
async function readTurnStart(
  { seq: at }: PersistedTurn,
  scope: TaskScope,
  taskId: string,
  store: TaskStore,
): Promise<{ message: Message; found: Task }> {
  let found: Task | undefined;
  let message: Message | undefined;
  for await (const { seq, event } of readLog(scope, taskId, store)) {
    if (seq === at) message = findTurnMessage(event);
    if (seq > at && !("message" in event)) continue;
    const folded = fold(found, event);
    if (!isEventRefusal(folded)) found = folded;
  }
  if (found && message) return { message, found: copyTask(found) };
  throw new A2AError("INTERNAL", `The log of task ${taskId} has no message at ${at}; restore the store.`);
}

async function* readLog(scope: TaskScope, taskId: string, store: TaskStore): AsyncGenerator<LogEvent, void> {
  let seq = 0;
  for (;;) {
    const events = await store.readEvents(scope, taskId, seq, PAGE_LIMIT);
    yield* events;
    const last = events.at(-1);
    if (!last) return;
    seq = last.seq;
  }
}
