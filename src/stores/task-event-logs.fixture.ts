/** Creates task logs for store tests, both fixed and random. */
import * as fc from "fast-check";
import type { LogAppend, StoredTask, TaskScope, TaskStore } from "../engine/index.ts";
import type { PushStore, Webhook } from "../webhooks/index.ts";
import {
  fold,
  isEventRefusal,
  isTerminal,
  LogEvent,
  findEventRefusal,
  TASK_STATES,
  text,
  type Message,
  type Task,
  type TaskEvent,
  type TaskState,
} from "../protocol/index.ts";

export const aliceTestTaskScope: TaskScope = { tenant: "acme", principal: "alice", agent: "echo" };
export const bobTestTaskScope: TaskScope = { ...aliceTestTaskScope, principal: "bob" };

/** Lease of a stored task without a running turn. */
export const idleTestTaskLease = { epoch: 0, awaitsRecovery: false };

/** Returns the webhooks with undelivered events, also those that wait for a retry. */
export async function listDueTestWebhooks(
  store: Pick<PushStore, "claimDue"> | undefined,
  after: number = 0,
  limit: number = 100,
): Promise<Webhook[]> {
  const now = Number.MAX_SAFE_INTEGER;
  return (await store?.claimDue({ search: "all", after, limit, now })) ?? [];
}

/** Loads a task without the progress of its snapshots, which differs between stores. */
export async function loadTestTask(
  store: TaskStore,
  scope: TaskScope,
  taskId: string,
): Promise<Omit<StoredTask, "snapshotProgress"> | undefined> {
  const stored = await store.load(scope, taskId);
  if (!stored) return undefined;
  const { snapshotProgress: _, ...rest } = stored;
  return rest;
}

/** Formats the time `milliseconds` after `2026-01-01T00:00:00.000Z`. */
export function formatTestTime(milliseconds: number): string {
  return new Date(Date.UTC(2026, 0, 1) + milliseconds).toISOString();
}

export function createTestSubmittedTaskEvent(
  taskId: string,
  { contextId = "talk", message, time = 0 }: { contextId?: string; message?: Message; time?: number } = {},
): TaskEvent {
  const status = { state: "TASK_STATE_SUBMITTED", timestamp: formatTestTime(time) } as const;
  return { task: { id: taskId, contextId, status, ...(message && { history: [message] }) } };
}

export function createTestStatusEvent(taskId: string, state: TaskState, time = 0): TaskEvent {
  return { statusUpdate: { taskId, contextId: "talk", status: { state, timestamp: formatTestTime(time) } } };
}

export function createTestChunkEvent(taskId: string, content: string): TaskEvent {
  const artifact = { artifactId: "answer", parts: [text(content)] };
  return { artifactUpdate: { taskId, contextId: "talk", artifact, append: true } };
}

export function createTestUserMessage(messageId: string): Message {
  return { messageId, role: "ROLE_USER", parts: [text("hello")] };
}

/**
 * Creates an append of `events` to alice's log with `after` existing events. Its status is the newest status
 * among the events.
 */
export function createTestLogAppend(
  taskId: string,
  after: number,
  events: readonly TaskEvent[],
  options: Partial<LogAppend> = {},
): LogAppend {
  const newest = events.findLast((event) => "task" in event || "statusUpdate" in event);
  const source = newest && ("task" in newest ? newest.task : "statusUpdate" in newest && newest.statusUpdate);
  const { state, timestamp = formatTestTime(0) } = source
    ? source.status
    : { state: "TASK_STATE_WORKING" as const };
  return {
    scope: aliceTestTaskScope,
    taskId,
    contextId: "talk",
    expectedSeq: after,
    events: events.map((event, index) => LogEvent.create(after + 1 + index, event)),
    committedAt: Date.parse(formatTestTime(after)),
    status: { state, timestamp },
    messages: [],
    epoch: 0,
    ...options,
  };
}

/** Folds a complete log into its task, without a store. */
export function foldTestTaskEvents(log: readonly TaskEvent[]): Task {
  let task: Task | undefined;
  for (const event of log) {
    const result = fold(task, event);
    if (isEventRefusal(result)) throw new Error(result.refusalReason);
    task = result;
  }
  return task as Task;
}

const messageArbitrary: fc.Arbitrary<Message> = fc.record({
  messageId: fc.uuid(),
  role: fc.constantFrom("ROLE_USER", "ROLE_AGENT"),
  parts: fc.array(
    fc.oneof(
      fc.record({ text: fc.string({ unit: "grapheme" }) }),
      // JSON cannot represent -0.
      fc.record({ data: fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as never) }),
    ),
    { minLength: 1, maxLength: 3 },
  ),
});

/** Generates an event for an existing task, allowed or not. */
function createEventArbitrary(taskId: string): fc.Arbitrary<TaskEvent> {
  const artifacts = fc.record({
    artifactId: fc.constantFrom("answer", "file"),
    parts: messageArbitrary.map(({ parts }) => parts),
  });
  return fc.oneof(
    { weight: 3, arbitrary: fc.string().map((content) => createTestChunkEvent(taskId, content)) },
    messageArbitrary.map((message) => ({ message })),
    fc.constantFrom(...TASK_STATES).map((state) => createTestStatusEvent(taskId, state)),
    fc
      .record({ artifact: artifacts, append: fc.boolean() })
      .map((update) => ({ artifactUpdate: { taskId, contextId: "talk", ...update } })),
  );
}

/** Generates random valid logs of a task, each split into pieces of one or more events. */
export function createSplitLogArbitrary(taskId: string): fc.Arbitrary<TaskEvent[][]> {
  return fc
    .record({
      events: fc.array(createEventArbitrary(taskId), { maxLength: 40 }),
      sizes: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 41, maxLength: 41 }),
    })
    .map(({ events, sizes }) =>
      splitTestListBySizes(keepLegalTestEvents([createTestSubmittedTaskEvent(taskId), ...events]), sizes),
    );
}

/** Splits `items` into consecutive pieces of the given sizes. */
export function splitTestListBySizes<T>(items: readonly T[], sizes: readonly number[]): T[][] {
  const pieces: T[][] = [];
  let start = 0;
  for (const size of sizes) {
    if (start < items.length) pieces.push(items.slice(start, start + size));
    start += size;
  }
  return pieces;
}

function keepLegalTestEvents(events: readonly TaskEvent[]): TaskEvent[] {
  let state: TaskState | undefined;
  const log: TaskEvent[] = [];
  for (const event of events) {
    // Skip most of the early terminal states, because most logs should be long.
    if ("statusUpdate" in event && isTerminal(event.statusUpdate.status.state) && log.length % 5) continue;
    if (findEventRefusal(state, event)) continue;
    log.push(event);
    state = foldTestTaskEvents(log).status.state;
  }
  return log;
}
