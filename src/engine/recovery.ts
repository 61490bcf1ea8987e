import {
  A2AError,
  fold,
  isRefusal,
  snapshot,
  type LogEvent,
  type Message,
  type Task,
} from "../protocol/index.ts";
import type { Agent } from "./agent.ts";
import type { Scope } from "./caller.ts";
import { messageIn, type Inbox } from "./inbox.ts";
import type { KeptTurn } from "./kept-turn.ts";
import type { Runner } from "./runner.ts";
import type { Runners } from "./runners.ts";
import type { TaskStore, UnfinishedTask } from "./store.ts";

const STOPPED = "The server stopped while the agent was at work; send the message again.";
const tooOften = (attempts: number): string =>
  `The server stopped ${attempts} times while the agent was at work on this message, which is not tried again.`;

/** How many orphans are settled at a time. */
const AT_ONCE = 256;
/** How much of a log is read at a time. */
const PAGE = { events: 512, maxBytes: 256 * 1024 };

/** What a recovery works with. */
export interface RecoveryContext {
  readonly agent: Agent;
  readonly agentId: string;
  readonly store: TaskStore;
  readonly runners: Runners;
  readonly inbox: Inbox;
  /** How often a turn is begun at most. */
  readonly attempts: number;
}

/**
 * Settles the tasks on which an agent of a process that is gone was at work: the turn is begun again, where the agent
 * says so and the store knows what was asked; else the task fails with a reason (E9).
 */
export async function recover(context: RecoveryContext): Promise<void> {
  const orphans = (await context.store.unfinished()).filter(({ scope }) => scope.agent === context.agentId);
  for (let at = 0; at < orphans.length; at += AT_ONCE) {
    // All of them, before one that fails is told of: whoever tries again must not meet those that are under way.
    const settled = await Promise.allSettled(
      orphans.slice(at, at + AT_ONCE).map((orphan) => settle(orphan, context)),
    );
    for (const one of settled) if (one.status === "rejected") throw one.reason;
  }
}

async function settle(orphan: UnfinishedTask, context: RecoveryContext): Promise<void> {
  const runner = await context.runners.find(orphan.scope, orphan.taskId);
  if (!runner) return;
  try {
    // Not orphaned: an earlier try of this process, which failed at another task, has begun it again.
    if (runner.turn) return;
    const why = await beginAgain(runner, orphan, context);
    if (why === undefined) return;
    runner.orphaned(why);
    await runner.live.changed();
  } finally {
    runner.letGo();
  }
}

/** Has the agent work on the task's turn again, or says why the task fails instead. */
async function beginAgain(
  runner: Runner,
  { scope, taskId, turn: kept }: UnfinishedTask,
  { agent, store, inbox, attempts }: RecoveryContext,
): Promise<string | undefined> {
  const { afterRestart = "fail" } = agent;
  if (afterRestart === "fail" || !kept) return STOPPED;
  if (kept.attempt >= attempts) return tooOften(kept.attempt);
  const { message, found } = await beginningOf(kept, scope, taskId, store);
  try {
    const turn = inbox.again(scope, kept, message);
    await runner.again(turn, kept.seq, found, afterRestart);
    return undefined;
  } catch (error) {
    // There are more orphans than this server may have agents at work.
    if (error instanceof A2AError && error.reason === "RESOURCE_EXHAUSTED") return STOPPED;
    throw error;
  }
}

/** A turn's message, and the task as the turn found it, with the messages that the agent took while it was at work. */
async function beginningOf(
  { seq: at }: KeptTurn,
  scope: Scope,
  taskId: string,
  store: TaskStore,
): Promise<{ message: Message; found: Task }> {
  let found: Task | undefined;
  let message: Message | undefined;
  for await (const { seq, event } of logOf(scope, taskId, store)) {
    if (seq === at) message = messageIn(event);
    if (seq > at && !("message" in event)) continue;
    const folded = fold(found, event);
    if (!isRefusal(folded)) found = folded;
  }
  if (found && message) return { message, found: snapshot(found) };
  throw new A2AError("INTERNAL", `The log of task ${taskId} has no message at ${at}; restore the store.`);
}

async function* logOf(scope: Scope, taskId: string, store: TaskStore): AsyncGenerator<LogEvent, void> {
  let seq = 0;
  for (;;) {
    const events = await store.read(scope, taskId, seq, PAGE);
    yield* events;
    const last = events.at(-1);
    if (!last) return;
    seq = last.seq;
  }
}
