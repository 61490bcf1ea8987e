import { deepStrictEqual } from "node:assert/strict";
import type { AppendRefusal, LogAppend, TaskListQuery, TaskScope, TaskStore } from "../../engine/index.ts";
import { LogEvent, type Message, type TaskEvent, type TaskState } from "../../protocol/index.ts";
import { foldLoggedEvents } from "../logged-events.ts";

/** A rule for task stores, for any test runner. */
export interface TaskStoreRule {
  readonly title: string;
  /** Rejects with an `AssertionError` if the store breaks the rule. The store must be open and empty. */
  readonly check: (store: TaskStore) => Promise<void>;
}

const ALICE: TaskScope = { tenant: "acme", principal: "alice", agent: "echo" };
const BOB: TaskScope = { ...ALICE, principal: "bob" };
/** Scopes that own nothing of Alice's. The last two consist of the same characters, split differently. */
const STRANGERS: readonly TaskScope[] = [
  BOB,
  { ...ALICE, tenant: "" },
  { ...ALICE, agent: "other" },
  { tenant: "acm", principal: "ealice", agent: "echo" },
  { tenant: "acme", principal: "alic", agent: "eecho" },
];
const GENEROUS_LIMIT = { events: 1000, maxBytes: 1_000_000 };
const EMPTY_PAGE = { tasks: [], hasMore: false, total: 0 };

const toTime = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();

function submitted(id: string, time = 0, contextId = "talk", history?: Message[]): TaskEvent {
  const status = { state: "TASK_STATE_SUBMITTED", timestamp: toTime(time) } as const;
  return { task: { id, contextId, status, ...(history && { history }) } };
}

function changed(taskId: string, state: TaskState, time = 0): TaskEvent {
  return { statusUpdate: { taskId, contextId: "talk", status: { state, timestamp: toTime(time) } } };
}

function chunk(taskId: string, text: string): TaskEvent {
  const artifact = { artifactId: "answer", parts: [{ text }] };
  return { artifactUpdate: { taskId, contextId: "talk", artifact, append: true } };
}

const said = (messageId: string): Message => ({ messageId, role: "ROLE_USER", parts: [{ text: "hello" }] });

/** Creates an append to Alice's task with `after` events. Its status is the newest status among the events. */
function append(
  taskId: string,
  after: number,
  events: readonly TaskEvent[],
  options: Partial<LogAppend> = {},
): LogAppend {
  let status: LogAppend["status"] = { state: "TASK_STATE_WORKING", timestamp: toTime(0) };
  for (const event of events) {
    const { state, timestamp = toTime(0) } =
      "task" in event ? event.task.status : "statusUpdate" in event ? event.statusUpdate.status : status;
    status = { state, timestamp };
  }
  return {
    scope: ALICE,
    taskId,
    contextId: "talk",
    expectedSeq: after,
    events: events.map((event, at) => LogEvent.create(after + 1 + at, event)),
    committedAt: Date.parse(status.timestamp),
    status,
    messages: [],
    epoch: 0,
    ...options,
  };
}

async function store(target: TaskStore, ...batch: LogAppend[]): Promise<void> {
  deepStrictEqual(
    await target.commit(batch),
    batch.map(() => undefined),
  );
}

async function refuse(
  target: TaskStore,
  batch: readonly LogAppend[],
  refusals: readonly (AppendRefusal | undefined)[],
): Promise<void> {
  deepStrictEqual(await target.commit(batch), refusals);
}

async function listIds(target: TaskStore, query: Partial<TaskListQuery>): Promise<string[]> {
  return (await target.list(ALICE, { limit: 10, ...query })).tasks.map(({ id }) => id);
}

/** Checks that Alice's task `t` consists of `events`. */
async function checkLog(target: TaskStore, events: readonly TaskEvent[]): Promise<void> {
  const logged = await target.readEvents(ALICE, "t", 0, GENEROUS_LIMIT);
  deepStrictEqual(
    logged.map(({ seq }) => seq),
    events.map((_, at) => at + 1),
  );
  deepStrictEqual(
    logged.map(({ jsonText }) => jsonText),
    events.map((event) => JSON.stringify(event)),
  );
  const stored = await target.load(ALICE, "t");
  const { seq, epoch, awaitsRecovery } = stored ?? {};
  deepStrictEqual({ seq, epoch, awaitsRecovery }, { seq: events.length, epoch: 0, awaitsRecovery: false });
  const log = events.map((event, at) => LogEvent.create(at + 1, event));
  deepStrictEqual(stored?.task, foldLoggedEvents(undefined, log));
}

const FIRST = [submitted("t", 0, "talk", [said("m1")]), changed("t", "TASK_STATE_WORKING")];
const storeFirst = (target: TaskStore): Promise<void> =>
  store(target, append("t", 0, FIRST, { messages: [{ messageId: "m1", seq: 1 }] }));

/** The rules for all members that a task store must have. */
export const TASK_STORE_RULES: readonly TaskStoreRule[] = [
  {
    title: "a log is read back as it was appended, numbered from 1 without a gap",
    async check(target) {
      await storeFirst(target);
      await store(target, append("t", 2, [chunk("t", "a"), chunk("t", "b")]));
      await checkLog(target, [...FIRST, chunk("t", "a"), chunk("t", "b")]);
    },
  },
  {
    title: "an event has the time of its append as a number, or no time",
    async check(target) {
      await storeFirst(target);
      await store(target, append("t", 2, [chunk("t", "a"), chunk("t", "b")], { committedAt: 1 }));
      const [one, ...others] = (await target.readEvents(ALICE, "t", 0, GENEROUS_LIMIT)).map(
        ({ committedAt }) => committedAt,
      );
      if (one === undefined) return;
      deepStrictEqual([one, ...others], [Date.parse(toTime(0)), Date.parse(toTime(0)), 1, 1]);
    },
  },
  {
    title: "a read begins after a number, and ends at a number of events or of bytes",
    async check(target) {
      await storeFirst(target);
      await store(target, append("t", 2, [chunk("t", "a"), chunk("t", "b")]));
      const read = async (after: number, limit: Partial<typeof GENEROUS_LIMIT>): Promise<number[]> =>
        (await target.readEvents(ALICE, "t", after, { ...GENEROUS_LIMIT, ...limit })).map(({ seq }) => seq);
      deepStrictEqual(await read(2, {}), [3, 4]);
      deepStrictEqual(await read(1, { events: 2 }), [2, 3]);
      deepStrictEqual(await read(1, { maxBytes: 1 }), [2]);
      deepStrictEqual(await read(4, {}), []);
    },
  },
  {
    title: "the caller owns the task that a load returns",
    async check(target) {
      await storeFirst(target);
      const loaded = await target.load(ALICE, "t");
      if (loaded) loaded.task.status = { state: "TASK_STATE_FAILED" };
      await checkLog(target, FIRST);
    },
  },
  {
    title: "an append is rejected when the log is longer or shorter than expected, or has another epoch",
    async check(target) {
      await storeFirst(target);
      const late = append("t", 1, [chunk("t", "late")], { messages: [{ messageId: "m2", seq: 2 }] });
      const early = append("t", 3, [chunk("t", "early")]);
      const unborn = append("u", 1, [chunk("u", "unborn")]);
      const again = append("t", 0, [submitted("t")]);
      const stolen = append("t", 2, [chunk("t", "stolen")], { epoch: 1 });
      const batch = [late, early, unborn, again, stolen];
      const refusals = batch.map(() => "conflict" as const);
      await refuse(target, batch, refusals);
      await checkLog(target, FIRST);
      deepStrictEqual(await target.findMessage(ALICE, "m2"), undefined);
      deepStrictEqual(await target.load(ALICE, "u"), undefined);
    },
  },
  {
    title: "an append is rejected as a unit when one of its messages is known",
    async check(target) {
      await storeFirst(target);
      const messages = [
        { messageId: "m2", seq: 3 },
        { messageId: "m1", seq: 4 },
      ];
      await refuse(
        target,
        [
          append("t", 2, [{ message: said("m2") }, { message: said("m1") }], { messages }),
          append("u", 0, [submitted("u")], { messages: [{ messageId: "m1", seq: 1 }] }),
        ],
        ["duplicate-message", "duplicate-message"],
      );
      await checkLog(target, FIRST);
      deepStrictEqual(await target.load(ALICE, "u"), undefined);
      deepStrictEqual(await target.findMessage(ALICE, "m2"), undefined);
      deepStrictEqual(await target.findMessage(ALICE, "m1"), { taskId: "t", seq: 1 });
    },
  },
  {
    title: "an append is rejected when an earlier append of its batch has the same message",
    async check(target) {
      const messages = [{ messageId: "m9", seq: 1 }];
      await refuse(
        target,
        [append("x", 0, [submitted("x")], { messages }), append("y", 0, [submitted("y")], { messages })],
        [undefined, "duplicate-message"],
      );
      deepStrictEqual(await target.findMessage(ALICE, "m9"), { taskId: "x", seq: 1 });
      deepStrictEqual(await target.load(ALICE, "y"), undefined);
    },
  },
  {
    title: "an append that is rejected does not affect the others of its batch",
    async check(target) {
      await storeFirst(target);
      const known = { messages: [{ messageId: "m1", seq: 1 }] };
      const fresh = { messages: [{ messageId: "m3", seq: 3 }] };
      await refuse(
        target,
        [
          append("a", 0, [submitted("a")]),
          append("t", 7, [chunk("t", "late")]),
          append("u", 0, [submitted("u")], known),
          append("t", 2, [chunk("t", "good")], fresh),
        ],
        [undefined, "conflict", "duplicate-message", undefined],
      );
      deepStrictEqual((await target.load(ALICE, "a"))?.seq, 1);
      await checkLog(target, [...FIRST, chunk("t", "good")]);
      deepStrictEqual(await target.findMessage(ALICE, "m3"), { taskId: "t", seq: 3 });
    },
  },
  {
    title: "a scope sees no tasks of other scopes",
    async check(target) {
      await storeFirst(target);
      for (const scope of STRANGERS) {
        deepStrictEqual(await target.load(scope, "t"), undefined);
        deepStrictEqual(await target.readEvents(scope, "t", 0, GENEROUS_LIMIT), []);
        deepStrictEqual(await target.list(scope, { limit: 10 }), EMPTY_PAGE);
        deepStrictEqual(await target.findMessage(scope, "m1"), undefined);
        await refuse(target, [append("t", 2, [chunk("t", "x")], { scope })], ["conflict"]);
      }
      await checkLog(target, FIRST);
    },
  },
  {
    title: "a scope has separate ids: the same ids in another scope are other tasks and messages",
    async check(target) {
      await storeFirst(target);
      const bobs = { scope: BOB, messages: [{ messageId: "m1", seq: 1 }] };
      await store(target, append("t", 0, [submitted("t"), chunk("t", "bob's"), chunk("t", "!")], bobs));
      await checkLog(target, FIRST);
      await store(target, append("t", 2, [changed("t", "TASK_STATE_FAILED")]));
      const stored = await target.load(BOB, "t");
      deepStrictEqual([stored?.seq, stored?.task.status.state], [3, "TASK_STATE_SUBMITTED"]);
      deepStrictEqual((await target.list(BOB, { limit: 10 })).total, 1);
    },
  },
  {
    title: "a list has the newest status first, with filters and pages",
    async check(target) {
      await store(
        target,
        append("a", 0, [submitted("a", 1)]),
        append("b", 0, [submitted("b", 3, "other")], { contextId: "other" }),
        append("c", 0, [submitted("c", 2), chunk("c", "x")]),
        append("d", 0, [submitted("d", 2)]),
      );
      deepStrictEqual(await listIds(target, {}), ["b", "d", "c", "a"]);
      await store(target, append("a", 1, [changed("a", "TASK_STATE_COMPLETED", 4)]));
      deepStrictEqual(await listIds(target, {}), ["a", "b", "d", "c"]);
      deepStrictEqual(await listIds(target, { contextId: "talk" }), ["a", "d", "c"]);
      deepStrictEqual(await listIds(target, { status: "TASK_STATE_SUBMITTED" }), ["b", "d", "c"]);
      deepStrictEqual(await listIds(target, { statusSince: toTime(3) }), ["a", "b"]);
      const page = await target.list(ALICE, { limit: 2 });
      deepStrictEqual([page.hasMore, page.total], [true, 4]);
      const after = { timestamp: toTime(3), taskId: "b" };
      const rest = await target.list(ALICE, { limit: 2, after });
      deepStrictEqual([rest.tasks.map(({ id }) => id), rest.hasMore, rest.total], [["d", "c"], false, 4]);
      deepStrictEqual(await listIds(target, { maxBytes: 1 }), ["a"]);
    },
  },
  {
    title: "a list contains artifacts only on request",
    async check(target) {
      await store(target, append("c", 0, [submitted("c"), chunk("c", "x")]));
      const read = async (includeArtifacts?: boolean): Promise<number | undefined> => {
        const query = { limit: 1, ...(includeArtifacts === undefined ? {} : { includeArtifacts }) };
        return (await target.list(ALICE, query)).tasks[0]?.artifacts?.length;
      };
      deepStrictEqual([await read(), await read(false), await read(true)], [undefined, undefined, 1]);
    },
  },
  {
    title: "a task keeps its queued turns until their messages begin a turn",
    async check(target) {
      await storeFirst(target);
      const queued = { position: 1, message: said("q1"), request: {}, service: { version: "1.0" } };
      const waiting = { messages: [{ messageId: "q1", seq: 0 }], queueChange: { added: [queued] } };
      await store(target, append("t", 2, [], waiting));
      deepStrictEqual((await target.load(ALICE, "t"))?.queuedTurns, [queued]);
      deepStrictEqual(await target.findMessage(ALICE, "q1"), { taskId: "t", seq: 0 });
      await refuse(target, [append("t", 2, [], waiting)], ["duplicate-message"]);
      const begun = {
        messages: [{ messageId: "q1", seq: 3, wasQueued: true }],
        queueChange: { added: [], removedThrough: 1 },
      };
      await refuse(target, [append("t", 7, [{ message: said("q1") }], begun)], ["conflict"]);
      deepStrictEqual((await target.load(ALICE, "t"))?.queuedTurns, [queued]);
      await store(target, append("t", 2, [{ message: said("q1") }], begun));
      deepStrictEqual((await target.load(ALICE, "t"))?.queuedTurns, undefined);
      deepStrictEqual(await target.findMessage(ALICE, "q1"), { taskId: "t", seq: 3 });
    },
  },
];
